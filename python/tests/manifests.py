"""Checks manifests against the rules in the documentation of Zephyr, ESP-IDF and CMSIS-Pack.

Each function returns the faults that it finds, and is tested with faulty manifests.
"""

import pathlib
import re
import xml.etree.ElementTree


def read_yaml(text):
    """Reads YAML as far as these manifests use it: nested mappings, lists of scalars, plain and quoted scalars."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]

    def scalar(word):
        quoted = re.fullmatch(r"\"([^\"\\]*)\"|'([^']*)'", word)
        if quoted:
            return quoted.group(1) or quoted.group(2) or ""
        if re.search(r"^[\[{&*!|>%@`]|: |\s#", word):
            raise ValueError(f"not plain YAML: {word}")
        return word

    def block(at, indent):
        if lines[at].lstrip().startswith("- "):
            items = []
            while at < len(lines) and lines[at].startswith(" " * indent + "- "):
                items.append(scalar(lines[at].strip()[2:].strip()))
                at += 1
            return items, at
        values = {}
        while at < len(lines) and len(lines[at]) - len(lines[at].lstrip()) == indent:
            found = re.fullmatch(r"([\w./-]+):(?: +(.*))?", lines[at].strip())
            if not found or found.group(1) in values:
                raise ValueError(f"not a key, or one that is there twice: {lines[at]}")
            key, rest = found.groups()
            at += 1
            if rest:
                values[key] = scalar(rest)
                continue
            deeper = len(lines[at]) - len(lines[at].lstrip()) if at < len(lines) else 0
            if deeper <= indent and not (at < len(lines) and lines[at].lstrip().startswith("- ") and deeper == indent):
                raise ValueError(f"`{key}` has no value")
            values[key], at = block(at, deeper)
        return values, at

    values, end = block(0, 0)
    if end != len(lines):
        raise ValueError(f"wrong indentation: {lines[end]}")
    return values


def faults_of_zephyr(folder: pathlib.Path):
    """Returns the faults of zephyr/module.yml and of the files that it names."""
    faults = []
    module = read_yaml((folder / "zephyr/module.yml").read_text())
    known = {"name", "build", "samples", "tests", "boards", "blobs", "security", "package-managers", "runners"}
    faults += [f"unknown key {key}" for key in module.keys() - known]
    if not re.fullmatch(r"[A-Za-z0-9_-]+", module.get("name", folder.name)):
        faults.append("the name is no name of a module")
    build = module.get("build", {})
    known = {"cmake", "cmake-ext", "kconfig", "kconfig-ext", "sysbuild-cmake", "sysbuild-kconfig", "depends", "settings"}
    faults += [f"unknown key build.{key}" for key in build.keys() - known]
    # `cmake` names a folder and `kconfig` a file, both relative to the module.
    if "cmake" in build and not (folder / build["cmake"] / "CMakeLists.txt").exists():
        faults.append("build.cmake has no CMakeLists.txt")
    if "kconfig" in build and not (folder / build["kconfig"]).is_file():
        faults.append("build.kconfig is no file")
    for key in ("samples", "tests"):
        faults += [f"{key}: there is no folder {name}" for name in module.get(key, []) if not (folder / name).is_dir()]
    options = set()
    if (folder / build.get("kconfig", "-")).is_file():
        options = set(re.findall(r"^(?:menu)?config (\w+)$", (folder / build["kconfig"]).read_text(), re.MULTILINE))
    used = re.findall(r"CONFIG_(\w+)", (folder / build.get("cmake", "-") / "CMakeLists.txt").read_text()) if not faults else []
    faults += [f"CONFIG_{name} is not defined" for name in used if name not in options]
    return faults


IDF_TARGETS = {"esp32", "esp32s2", "esp32s3", "esp32c2", "esp32c3", "esp32c5", "esp32c6", "esp32c61", "esp32h2", "esp32p4", "linux"}
_VERSION = r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?(~\d+)?"
_RANGE = rf"\*|(?:[~^]|[<>=!]=?)?(?:\d+(?:\.\d+){{0,2}}|{_VERSION})"


def faults_of_esp_idf(text, is_component=True):
    """Returns the faults of idf_component.yml."""
    faults = []
    manifest = read_yaml(text)
    known = {"version", "targets", "description", "url", "issues", "documentation", "repository", "repository_info", "discussion", "license",
             "maintainers", "tags", "dependencies", "files", "examples"}  # fmt: skip
    faults += [f"unknown key {key}" for key in manifest.keys() - known]
    # The registry requires a version for components, but not for the folder `main` of a project.
    if is_component and not re.fullmatch(_VERSION, manifest.get("version", "")):
        faults.append(f"version: {manifest.get('version')!r} is no semantic version")
    faults += [f"unknown target {name}" for name in manifest.get("targets", []) if name not in IDF_TARGETS]
    for name, wanted in manifest.get("dependencies", {}).items():
        if not re.fullmatch(r"(?:[A-Za-z0-9_-]+/)?[A-Za-z0-9_-]+", name):
            faults.append(f"{name} is no name of a component")
        of = wanted if isinstance(wanted, dict) else {"version": wanted}
        faults += [f"unknown key {name}.{key}" for key in of.keys() - {"version", "path", "override_path", "git", "public", "require", "rules", "service_url"}]
        if not {"version", "path", "git"} & of.keys():
            faults.append(f"{name} has neither a version nor a place")
        for part in of.get("version", "*").split(","):
            if not re.fullmatch(_RANGE, part.strip()):
                faults.append(f"{name}: {part} is no range of versions")
    return faults


_CATEGORIES = {"doc", "header", "include", "library", "object", "source", "sourceC", "sourceCpp", "sourceAsm", "linkerScript", "utility", "image",
               "preIncludeGlobal", "preIncludeLocal", "other"}  # fmt: skip
_CORES = {f"Cortex-M{kind}" for kind in ("0", "0+", "1", "3", "4", "7", "23", "33", "35P", "52", "55", "85")}
_ORDINARY = {"vendor", "name", "description", "url", "license", "licenseSets", "supportContact", "repository", "requirements", "releases",
             "keywords", "changelogs", "generators", "devices", "boards", "parts", "taxonomy", "apis", "conditions", "examples", "clayers",
             "components"}  # fmt: skip


def faults_of_pdsc(text, names, file_name):
    """Returns the faults of a package description; `names` are the files of the package."""
    faults = []
    root = xml.etree.ElementTree.fromstring(text)
    if root.tag != "package" or not re.fullmatch(r"\d+\.\d+(\.\d+)?", root.get("schemaVersion", "")):
        return ["the root is no package with a schemaVersion"]
    tags = [child.tag for child in root]
    faults += [f"unknown element {tag}" for tag in set(tags) - _ORDINARY]
    faults += [f"{tag} is there twice" for tag in set(tags) if tags.count(tag) > 1]
    faults += [f"{tag} is missing" for tag in ("vendor", "name", "description", "url", "releases") if tag not in tags]
    for tag in ("vendor", "name"):
        if not re.fullmatch(r"[\w-]+", root.findtext(tag) or "", flags=re.ASCII):
            faults.append(f"{tag} may have letters, digits, - and _ only")
    if file_name != f"{root.findtext('vendor')}.{root.findtext('name')}.pdsc":
        faults.append(f"the file is called {file_name}, not VENDOR.NAME.pdsc")
    if root.find("license") is not None and root.findtext("license") not in names:
        faults.append("the file of the license is missing")
    releases = list(root.iter("release"))
    for release in releases:
        if not re.fullmatch(_VERSION, release.get("version", "")):
            faults.append(f"{release.get('version')} is no semantic version")
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", release.get("date", "2000-01-01")):
            faults.append(f"{release.get('date')} is no date")
    if not releases:
        faults.append("there is no release")
    conditions = [condition.get("id") for condition in root.iter("condition")]
    faults += [f"the condition {name} is there twice" for name in set(conditions) if conditions.count(name) > 1]
    for element in root.iter():
        if element.get("condition") and element.get("condition") not in conditions:
            faults.append(f"there is no condition {element.get('condition')}")
        if element.get("Dcore") and element.get("Dcore") not in _CORES:
            faults.append(f"unknown core {element.get('Dcore')}")
    for component in root.iter("component"):
        if component.find("description") is None or component.find("files") is None:
            faults.append("a component has no description or no files")
        for key in ("Cclass", "Cgroup", "Cversion"):
            if len(component.get(key, "")) < 2:
                faults.append(f"a component has no {key}")
    for file in root.iter("file"):
        if file.get("name") not in names:
            faults.append(f"there is no file {file.get('name')}")
        if file.get("category") not in _CATEGORIES:
            faults.append(f"unknown category {file.get('category')}")
        if file.get("attr") not in (None, "config", "template"):
            faults.append(f"unknown attr {file.get('attr')}")
        if (file.get("attr") == "template") != bool(file.get("select")):
            faults.append("a template needs `select`")
    return faults
