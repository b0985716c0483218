#include "compiler/measure/Timeline.h"

#include "compiler/Compile.h"

#include "llvm/Support/JSON.h"

namespace ingot {

void printTimeline(llvm::StringRef process,
                   const std::vector<TimelineEvent> &events,
                   llvm::raw_ostream &os) {
  llvm::json::OStream json(os);
  json.object([&] {
    json.attributeObject("otherData", [&] {
      json.attribute("producer", ("ingot " + ingotVersion).str());
    });
    json.attribute("displayTimeUnit", "ns");
    json.attributeArray("traceEvents", [&] {
      json.object([&] {
        json.attribute("name", "process_name");
        json.attribute("ph", "M");
        json.attribute("pid", 1);
        json.attributeObject("args", [&] {
          json.attribute("name", llvm::json::fixUTF8(process));
        });
      });
      // Complete events: "X" with start and duration in microseconds.
      for (const TimelineEvent &event : events)
        json.object([&] {
          json.attribute("name", llvm::json::fixUTF8(event.name));
          json.attribute("cat", event.category);
          json.attribute("ph", "X");
          json.attribute("ts", event.start);
          json.attribute("dur", event.duration);
          json.attribute("pid", 1);
          json.attribute("tid", 1);
          if (!event.nodes.empty())
            json.attributeObject("args", [&] {
              json.attribute("nodes", llvm::json::fixUTF8(event.nodes));
            });
        });
    });
  });
  os << "\n";
}

} // namespace ingot
