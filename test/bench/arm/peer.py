"""Runs another engine inside the emulator: peer.py ENGINE MODEL INPUTS.npz RUNS OUT
[OPTION=VALUE...]

Executes two warm-up runs, then RUNS runs between the marks of Window.c. Writes OUT.peer.npz
(outputs) and OUT.maps.
"""
import os
import sys

import numpy as np

engine, model, inputs, runs, out = sys.argv[1:6]
options = dict(o.split("=", 1) for o in sys.argv[6:])
feed = {k: v for k, v in np.load(inputs).items()}


def mark(value):
    try:
        os.getpgid(value)
    except ProcessLookupError:
        pass


def onnxruntime():
    import onnxruntime as rt
    o = rt.SessionOptions()
    o.intra_op_num_threads = o.inter_op_num_threads = 1
    for k, v in options.items():
        o.add_session_config_entry(k, v)
    s = rt.InferenceSession(model, o, providers=["CPUExecutionProvider"])
    binding = s.io_binding()
    for k, v in feed.items():
        binding.bind_cpu_input(k, v)
    for y in s.get_outputs():
        binding.bind_output(y.name, "cpu")
    return lambda: s.run_with_iobinding(binding), lambda: binding.copy_outputs_to_cpu()


def openvino():
    import openvino as ov
    core = ov.Core()
    net = core.read_model(model)
    net.reshape({i.any_name: list(feed[i.any_name].shape) for i in net.inputs})
    request = core.compile_model(net, "CPU", {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "ENABLE_CPU_PINNING": False,
                                              "INFERENCE_PRECISION_HINT": options.get("precision", "f32")}
                                 ).create_infer_request()
    for k, v in feed.items():
        request.set_tensor(k, ov.Tensor(v))
    return lambda: request.infer(), lambda: [y.data for y in request.outputs] if hasattr(
        request, "outputs") else [t.data for t in request.output_tensors]


def ncnn():
    import ncnn as nn
    net = nn.Net()
    o = net.opt
    o.num_threads = 1
    half = options.get("half", "0") == "1"
    for k in ("use_fp16_packed", "use_fp16_storage", "use_fp16_arithmetic", "use_bf16_storage", "use_bf16_packed"):
        if hasattr(o, k):
            setattr(o, k, half and "bf16" not in k)
    net.opt = o
    assert net.load_param(model + ".ncnn.param") == 0 and net.load_model(model + ".ncnn.bin") == 0
    mats = [nn.Mat(v[0] if v.ndim > 1 else v).clone() for v in feed.values()]
    names_in, name_out = net.input_names(), net.output_names()[0]
    result = []

    def run():
        x = net.create_extractor()
        for name, mat in zip(names_in, mats):
            x.input(name, mat)
        result[:] = [x.extract(name_out)[1]]
    return run, lambda: [np.array(result[0])]


def litert():
    from ai_edge_litert.interpreter import Interpreter
    i = Interpreter(model_path=model, num_threads=1)
    i.allocate_tensors()
    details = i.get_input_details()
    for d, v in zip(details, feed.values()):
        if list(d["shape"]) != list(v.shape):  # onnx2tf moves channels to the last axis
            v = np.ascontiguousarray(np.moveaxis(v, 1, -1))
        i.set_tensor(d["index"], v.astype(d["dtype"]))
    return lambda: i.invoke(), lambda: [i.get_tensor(d["index"]) for d in i.get_output_details()]


def mnn():
    import MNN
    config = {"precision": options.get("precision", "high"), "backend": "CPU", "numThread": 1}
    i = MNN.Interpreter(model)
    session = i.createSession(config)
    tensors = i.getSessionInputAll(session)
    pairs = [(tensors[name], MNN.Tensor(v.shape, MNN.Halide_Type_Float, v, MNN.Tensor_DimensionType_Caffe))
             for name, v in feed.items()]

    def run():  # inputs must be copied before each run: MNN reuses their memory
        for mine, host in pairs:
            mine.copyFrom(host)
        i.runSession(session)

    def result():
        y = i.getSessionOutput(session)
        host = MNN.Tensor(y.getShape(), MNN.Halide_Type_Float, np.zeros(y.getShape(), np.float32),
                          MNN.Tensor_DimensionType_Caffe)
        y.copyToHostTensor(host)
        return [np.array(host.getNumpyData())]
    return run, result


run, result = globals()[engine]()
run()
run()
mark(0x1a9071)
for _ in range(int(runs)):
    run()
mark(0x1a9072)
np.savez(out + ".peer.npz", *[np.array(y) for y in result()])
with open("/proc/self/maps") as maps, open(out + ".maps", "w") as file:
    file.write(maps.read())
