// Streams, events and graphs of the emulated GPU. The nodes of a captured graph
// run in sequence, in an order that satisfies its dependencies. Included by
// cuda_runtime.h.

#ifndef INGOT_EMULATED_GRAPH_H
#define INGOT_EMULATED_GRAPH_H

inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
  *stream = new CUstream_st;
  emulated_gpu().count(1);
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  emulated_gpu().count(-1);
  return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return stream && stream->recorded ? cudaErrorInvalidValue : cudaSuccess;
}
inline cudaError_t cudaStreamBeginCapture(cudaStream_t stream,
                                          cudaStreamCaptureMode) {
  // The default stream cannot be captured.
  if (!stream || stream->recorded)
    return cudaErrorInvalidValue;
  stream->recorded = new CUgraph_st;
  stream->recorded->streams = {stream};
  stream->last.clear();
  emulated_gpu().count(1);
  return cudaSuccess;
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t stream,
                                        cudaGraph_t *graph) {
  *graph = stream->recorded;
  if (!*graph || (*graph)->streams.front() != stream)
    return cudaErrorInvalidValue;
  // All other streams must have joined this one: a node on which no other node
  // depends must be the last node of this stream.
  std::vector<bool> isAwaited((*graph)->nodes.size());
  for (const CUgraph_st::Node &node : (*graph)->nodes)
    for (size_t before : node.after)
      isAwaited[before] = true;
  for (size_t node : stream->last)
    isAwaited[node] = true;
  for (CUstream_st *one : (*graph)->streams)
    one->recorded = nullptr;
  for (bool is : isAwaited)
    if (!is)
      return cudaErrorStreamCaptureUnjoined;
  return cudaSuccess;
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
  *event = new CUevent_st;
  emulated_gpu().count(1);
  return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  *event =
      stream ? CUevent_st{stream->recorded, stream->last, {}} : CUevent_st();
  event->time = std::chrono::steady_clock::now();
  return cudaSuccess;
}
// Returns the time that the emulation takes; it does not predict the time on a
// GPU.
inline cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin,
                                        cudaEvent_t end) {
  *milliseconds =
      std::chrono::duration<float, std::milli>(end->time - begin->time).count();
  return cudaSuccess;
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                       unsigned) {
  // Outside of a capture, work is executed immediately, so the work before the
  // event is already complete.
  if (!event->recorded)
    return stream && stream->recorded ? cudaErrorInvalidValue : cudaSuccess;
  if (!stream || (stream->recorded && stream->recorded != event->recorded))
    return cudaErrorInvalidValue;
  if (!stream->recorded) {
    stream->recorded = event->recorded;
    stream->recorded->streams.push_back(stream);
    stream->last.clear();
  }
  for (size_t node : event->last)
    if (std::find(stream->last.begin(), stream->last.end(), node) ==
        stream->last.end())
      stream->last.push_back(node);
  return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  emulated_gpu().count(-1);
  return cudaSuccess;
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec,
                                        cudaGraph_t graph, unsigned long long) {
  *exec = new CUgraphExec_st{*graph};
  emulated_gpu().count(1);
  return cudaSuccess;
}
inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                       cudaGraphExecUpdateResultInfo *) {
  // An executable graph cannot be updated to a graph with other nodes or
  // dependencies.
  if (exec->nodes.size() != graph->nodes.size())
    return cudaErrorInvalidValue;
  for (size_t i = 0; i < graph->nodes.size(); ++i)
    if (exec->nodes[i].after != graph->nodes[i].after)
      return cudaErrorInvalidValue;
  exec->nodes = graph->nodes;
  return cudaSuccess;
}
// Runs the nodes of `graph` in sequence, each after the nodes on which it
// depends. Of the nodes that can run, the first runs next or, with `backwards`,
// the last.
inline void emulated_run_graph(const CUgraph_st &graph) {
  size_t count = graph.nodes.size();
  // before[i][j]: whether node j completes before node i in every order that
  // satisfies the dependencies.
  std::vector<std::vector<bool>> before(count, std::vector<bool>(count));
  for (size_t i = 0; i < count; ++i)
    for (size_t from : graph.nodes[i].after) {
      before[i][from] = true;
      for (size_t j = 0; j < from; ++j)
        before[i][j] = before[i][j] || before[from][j];
    }
  // For each completed node, the range of numbers of its launches: `first` is
  // the number of launches before the node, `second` that after it.
  std::vector<std::pair<size_t, size_t>> launches(count);
  std::vector<bool> isDone(count);
  auto mayRun = [&](size_t i) {
    for (size_t from : graph.nodes[i].after)
      if (!isDone[from])
        return false;
    return !isDone[i];
  };
  for (size_t done = 0; done < count; ++done) {
    size_t next = emulated_gpu().backwards ? count - 1 : 0;
    while (!mayRun(next))
      emulated_gpu().backwards ? --next : ++next;
    std::vector<std::pair<size_t, size_t>> beside;
    for (size_t i = 0; i < count; ++i)
      if (isDone[i] && !before[next][i])
        beside.push_back(launches[i]);
    emulated_beside(&beside);
    size_t first = emulated_gpu().launches;
    graph.nodes[next].work();
    launches[next] = {first, emulated_gpu().launches};
    isDone[next] = true;
  }
  emulated_beside(nullptr);
}
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return emulated_enqueue(stream, [exec] { emulated_run_graph(*exec); });
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  emulated_gpu().count(-1);
  return cudaSuccess;
}
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  delete exec;
  emulated_gpu().count(-1);
  return cudaSuccess;
}

#endif // INGOT_EMULATED_GRAPH_H
