# A model with an operator that does not exist.
import onnx,sys
onnx.save(onnx.parser.parse_model('''<ir_version: 8, opset_import: ["": 17]>
g (float[1,4] x) => (float[1,4] y) {
  h = Relu(x)
  y = NoSuchOperator(h)
}'''), sys.argv[1])
