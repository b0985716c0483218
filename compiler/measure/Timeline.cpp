#include "compiler/measure/Timeline.h"

#include "compiler/Compile.h"

#include "llvm/Support/JSON.h"

namespace ingot {

void printTimeline(llvm::StringRef process,
                   llvm::ArrayRef<TimelineEvent> events,
                   llvm::raw_ostream &os) {
  llvm::json::OStream json(os);
  json.object([&] {
    json.attributeObject("otherData", [&] {
      json.attribute("producer", ("ingot " + ingotVersion).str());
    });
    json.attribute("displayTimeUnit", "ns");
    json.attributeArray("traceEvents", [&] {
      auto name = [&](llvm::StringRef what, llvm::StringRef text, unsigned id) {
        json.object([&] {
          json.attribute("name", what);
          json.attribute("ph", "M");
          json.attribute("pid", 1);
          if (id)
            json.attribute("tid", id);
          json.attributeObject("args", [&] {
            json.attribute("name", llvm::json::fixUTF8(text));
          });
        });
      };
      name("process_name", process, 0);
      unsigned threads = 0;
      for (const TimelineEvent &event : events)
        threads = std::max(threads, event.thread);
      // The identifiers of tracks begin with 1.
      for (unsigned thread = 0; threads > 0 && thread <= threads; ++thread)
        name("thread_name",
             thread ? "thread " + std::to_string(thread) : "kernels",
             thread + 1);
      // Complete events: "X" with start and duration in microseconds.
      for (const TimelineEvent &event : events)
        json.object([&] {
          json.attribute("name", llvm::json::fixUTF8(event.name));
          json.attribute("cat", event.category);
          json.attribute("ph", "X");
          json.attribute("ts", event.start);
          json.attribute("dur", event.duration);
          json.attribute("pid", 1);
          json.attribute("tid", event.thread + 1);
          if (event.nodes.empty() && event.figures.empty())
            return;
          json.attributeObject("args", [&] {
            if (!event.nodes.empty())
              json.attribute("nodes", llvm::json::fixUTF8(event.nodes));
            for (const auto &[figure, value] : event.figures)
              json.attribute(figure, value);
          });
        });
    });
  });
  os << "\n";
}

} // namespace ingot
