#!/usr/bin/env python3
"""Validates the manifests that `ingot export` writes against the schemas that the platforms publish.

    schemas.py [FOLDER]

FOLDER (or the environment variable INGOT_SCHEMAS) has files of the platforms, as they publish them:

    PACK.xsd                                                                         Open-CMSIS-Pack-Spec, schema
    module-schema.yaml                                                               Zephyr, scripts/schemas
    arduino-library-properties-*schema.json, general-definitions-schema.json         arduino-lint, etc/schemas

For PlatformIO and ESP-IDF, the packages platformio and idf-component-manager contain the schemas. The packages jsonschema, pyyaml
and xmlschema read the other schemas. A platform whose schema or package is missing is skipped; if all are, the exit code is 77.
"""

import importlib
import json
import os
import pathlib
import sys
import tempfile

from ingot.export import export

MNIST = pathlib.Path(__file__).resolve().parents[2] / "examples/mnist/model.onnx"


class Missing(Exception):
    """A schema file or a package is missing."""


def package(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Missing(f"the package {name} is not installed") from error


def file(schemas, name):
    path = schemas / name
    if not path.exists():
        raise Missing(f"the folder of schemas has no {name}")
    return path


def arduino(place, schemas):
    jsonschema, registries = package("jsonschema"), package("referencing")
    name = "arduino-library-properties-schema.json"
    parts = {path.name: json.loads(path.read_text()) for path in file(schemas, name).parent.glob("*-schema.json")}
    resources = [(part["$id"], registries.Resource.from_contents(part)) for part in parts.values()]
    validator = jsonschema.Draft7Validator(
        parts[name], registry=registries.Registry().with_resources(resources), format_checker=jsonschema.FormatChecker()
    )
    lines = (place / "library.properties").read_text().splitlines()
    validator.validate(dict(line.split("=", 1) for line in lines))


def platformio(place, schemas):
    parser, schema = package("platformio.package.manifest.parser"), package("platformio.package.manifest.schema")
    manifest = parser.ManifestParserFactory.new_from_dir(str(place)).as_dict()
    assert schema.ManifestSchema().load_manifest(manifest)["version"] == "1.0.0"


def zephyr(place, schemas):
    jsonschema, yaml = package("jsonschema"), package("yaml")
    schema = yaml.safe_load(file(schemas, "module-schema.yaml").read_text())
    jsonschema.Draft202012Validator(schema).validate(yaml.safe_load((place / "zephyr/module.yml").read_text()))


def esp_idf(place, schemas):
    manager = package("idf_component_tools.manager").ManifestManager
    manager(str(place), "digits", upload_mode=True).load()
    manager(str(place / "examples/run/main"), "main").load()


def cmsis_pack(place, schemas):
    package("xmlschema").XMLSchema11(str(file(schemas, "PACK.xsd"))).validate(str(place / "Ingot.digits.pdsc"))


CHECKS = {"arduino": arduino, "platformio": platformio, "zephyr": zephyr, "esp-idf": esp_idf, "cmsis-pack": cmsis_pack}


def main():
    schemas = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("INGOT_SCHEMAS", "schemas"))
    done = 0
    for kind, check in CHECKS.items():
        with tempfile.TemporaryDirectory(prefix="ingot-") as folder:
            place = pathlib.Path(folder)
            export(MNIST, kind, place, name="digits")
            try:
                check(place, schemas)
            except Missing as missing:
                print(f"skipped: {kind}: {missing}")
            else:
                print(f"valid: {kind}")
                done += 1
    return 0 if done else 77


if __name__ == "__main__":
    sys.exit(main())
