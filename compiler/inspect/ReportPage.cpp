#include "compiler/inspect/ModelReport.h"
#include "compiler/inspect/PageParts.h"

namespace ingot {

std::string reportPage(llvm::StringRef json) {
  if (kD3.empty() || kDagre.empty())
    return "";
  // Escapes `<`, which could end the HTML element that contains the data.
  std::string data;
  data.reserve(json.size());
  for (char c : json)
    if (c == '<')
      data += "\\u003c";
    else
      data += c;
  const std::pair<llvm::StringRef, llvm::StringRef> parts[] = {
      {"licenses", kPageLicenses},
      {"style", kPageStyle},
      {"d3", kD3},
      {"dagre", kDagre},
      {"data", data},
      {"script", kPageScript}};
  std::string page;
  page.reserve(kPageHtml.size() + kD3.size() + kDagre.size() + data.size() +
               kPageScript.size() + kPageStyle.size());
  llvm::StringRef rest = kPageHtml;
  for (auto [name, text] : parts) {
    auto [before, after] = rest.split(("{{" + name + "}}").str());
    page += before;
    // Drops the first line of a library if it is a comment with a URL; the
    // licences on the page name the authors.
    page += text.starts_with("// https:") ? text.split('\n').second : text;
    rest = after;
  }
  page += rest;
  return page;
}

} // namespace ingot
