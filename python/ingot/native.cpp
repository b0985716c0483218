// The native part of the Python package: it is called once for each run of a network.
//
// A compiled network is one C function, `status run(io, arena, context)`. Its io struct
// is a sequence of words: sizes, then pointers to tensors, state and weights. So this
// module can call every network, and no wrapper is generated or built. `Function` has two
// ways to make a call:
//
//     run(words, then)   Python has checked the inputs and passes the words of the struct
//     function(x, ...)   a fast path for arrays that have exactly the types and sizes
//                        that the network expects; all other arguments are passed on to
//                        the Python method `_general`
//
// Both release the GIL during the run. Each takes an arena (the working memory of a run)
// from a list of free arenas, so several threads can call at the same time. The module
// uses the limited API of Python 3.11: one binary works with this version and all later
// ones.

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#include "ingot_thread_pool.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <pthread.h>
#include <string>
#include <vector>

namespace {

constexpr Py_ssize_t kMostWords = 64;

using Run = int (*)(const void *io, void *arena, const ingot_context *context);

// ------------------------------------------------------------------ threads

// The thread pools, by number of threads, shared by all networks. Pools are never
// destroyed: a worker may still be asleep in one when the process ends.
std::map<unsigned, ingot::ThreadPool *> *pools;

// Called in a child process after fork(): the threads of the parent do not exist there,
// so the child creates new pools.
void forgetPools() { pools = new std::map<unsigned, ingot::ThreadPool *>; }

// Returns the pool with this number of threads; null if the system cannot create the
// threads. The caller must hold the GIL.
ingot::ThreadPool *poolOf(unsigned threads) {
  try {
    ingot::ThreadPool *&pool = (*pools)[threads];
    if (!pool)
      pool = new ingot::ThreadPool(threads);
    return pool;
  } catch (const std::exception &) {
    return nullptr;
  }
}

// ----------------------------------------------------------------- Function

// A dimension of a tensor: the index of a dynamic size, or a constant.
struct Dim {
  bool isSize = false;
  Py_ssize_t value = 0;
};

struct Tensor {
  std::string format; // of an input: its element type in the buffer protocol
  Py_ssize_t itemBytes = 1;
  std::vector<Dim> dims;
  /// For outputs: the arguments of numpy.empty if all dimensions are constant, otherwise
  /// null; and the element type.
  PyObject *arguments = nullptr, *dtype = nullptr;
  /// For inputs: the name.
  PyObject *name = nullptr;
};

struct Function {
  PyObject_HEAD Run run;
  size_t arenaBytes, arenaAlign;
  unsigned threads;
  /// Held during a run of a network with a state (values kept between runs);
  /// null for other networks.
  std::mutex *alone;
  std::vector<void *> *freeArenas;

  // The following fields are set by `describe` and used by calls with arrays.
  bool isSimple;
  std::vector<Tensor> *inputs, *outputs;
  std::vector<std::pair<Py_ssize_t, Py_ssize_t>> *sizes; // least, most
  std::vector<void *> *tail; // the words after the tensors
  PyObject *empty, *arrayType;
};

void *takeArena(Function *self) {
  if (!self->freeArenas->empty()) {
    void *arena = self->freeArenas->back();
    self->freeArenas->pop_back();
    return arena;
  }
  size_t align = self->arenaAlign < 64 ? 64 : self->arenaAlign;
  size_t bytes = (self->arenaBytes + align) / align * align;
  void *arena = std::aligned_alloc(align, bytes);
  if (!arena)
    PyErr_Format(PyExc_MemoryError, "no memory for an arena of %zu bytes",
                 self->arenaBytes);
  return arena;
}

int runNow(Function *self, const void *io, void *arena) {
  ingot_context context = {};
  // Without a pool (in a child process that cannot create threads), the calling thread
  // does all the work, with the same result.
  if (self->threads > 1)
    if (ingot::ThreadPool *pool = poolOf(self->threads))
      context = pool->context();
  int status;
  Py_BEGIN_ALLOW_THREADS;
  if (self->alone) {
    std::lock_guard<std::mutex> lock(*self->alone);
    status = self->run(io, arena, &context);
  } else {
    status = self->run(io, arena, &context);
  }
  Py_END_ALLOW_THREADS;
  return status;
}

int init(PyObject *object, PyObject *args, PyObject *kwargs) {
  auto *self = reinterpret_cast<Function *>(object);
  unsigned long long address = 0;
  Py_ssize_t bytes = 0, align = 0;
  unsigned threads = 1;
  int hasState = 0;
  static const char *names[] = {"address", "arena_bytes", "arena_align",
                                "threads", "has_state",   nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "KnnIp",
                                   const_cast<char **>(names), &address, &bytes,
                                   &align, &threads, &hasState))
    return -1;
  if (address == 0 || bytes < 0 || align < 1 || (align & (align - 1)) != 0) {
    PyErr_SetString(PyExc_ValueError, "not an address and a size of an arena");
    return -1;
  }
  if (self->freeArenas) {
    PyErr_SetString(PyExc_RuntimeError, "a function is made once");
    return -1;
  }
  if (threads > 1 && !poolOf(threads)) {
    PyErr_Format(PyExc_RuntimeError, "the system does not start %u threads",
                 threads);
    return -1;
  }
  self->run = reinterpret_cast<Run>(static_cast<uintptr_t>(address));
  self->arenaBytes = size_t(bytes);
  self->arenaAlign = size_t(align);
  self->threads = threads;
  self->alone = hasState ? new std::mutex : nullptr;
  self->freeArenas = new std::vector<void *>;
  self->inputs = new std::vector<Tensor>;
  self->outputs = new std::vector<Tensor>;
  self->sizes = new std::vector<std::pair<Py_ssize_t, Py_ssize_t>>;
  self->tail = new std::vector<void *>;
  return 0;
}

int traverse(PyObject *object, visitproc visit, void *arg) {
  auto *self = reinterpret_cast<Function *>(object);
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->empty);
  Py_VISIT(self->arrayType);
  return 0;
}

int clear(PyObject *object) {
  auto *self = reinterpret_cast<Function *>(object);
  Py_CLEAR(self->empty);
  Py_CLEAR(self->arrayType);
  return 0;
}

void deallocate(PyObject *object) {
  auto *self = reinterpret_cast<Function *>(object);
  PyObject_GC_UnTrack(object);
  clear(object);
  if (self->freeArenas) {
    for (void *arena : *self->freeArenas)
      std::free(arena);
    for (Tensor &tensor : *self->inputs)
      Py_XDECREF(tensor.name);
    for (Tensor &tensor : *self->outputs) {
      Py_XDECREF(tensor.arguments);
      Py_XDECREF(tensor.dtype);
    }
    delete self->freeArenas;
    delete self->inputs;
    delete self->outputs;
    delete self->sizes;
    delete self->tail;
    delete self->alone;
  }
  PyTypeObject *type = Py_TYPE(object);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

bool isReady(Function *self) {
  if (self->freeArenas)
    return true;
  PyErr_SetString(PyExc_RuntimeError, "Function.__init__ was not called");
  return false;
}

// run(words, then=None): runs the network. Returns then() after success if
// `then` is given, otherwise the status. No other call uses the arena (the
// network's working memory) until then() has returned.
PyObject *runWords(PyObject *object, PyObject *args) {
  auto *self = reinterpret_cast<Function *>(object);
  PyObject *words = nullptr, *then = Py_None;
  if (!isReady(self) || !PyArg_ParseTuple(args, "O|O", &words, &then))
    return nullptr;
  Py_buffer view;
  if (PyObject_GetBuffer(words, &view, PyBUF_SIMPLE) < 0)
    return nullptr;
  PyObject *result = nullptr;
  if (void *arena = takeArena(self)) {
    int status = runNow(self, view.buf, arena);
    result = status == INGOT_OK && then != Py_None ? PyObject_CallNoArgs(then)
                                                   : PyLong_FromLong(status);
    self->freeArenas->push_back(arena);
  }
  PyBuffer_Release(&view);
  return result;
}

// Reads a tuple of pairs (isSize, value); false with a Python exception on failure.
bool readDims(PyObject *dims, std::vector<Dim> &result, Py_ssize_t sizes) {
  for (Py_ssize_t i = 0, end = PyTuple_Size(dims); i < end; ++i) {
    int isSize = 0;
    Py_ssize_t value = 0;
    if (!PyArg_ParseTuple(PyTuple_GetItem(dims, i), "pn", &isSize, &value))
      return false;
    if (value < 0 || (isSize && value >= sizes)) {
      PyErr_SetString(PyExc_ValueError, "a dimension is out of range");
      return false;
    }
    result.push_back({isSize != 0, value});
  }
  return true;
}

// describe(array_type, empty, sizes, inputs, outputs, tail): enables calls with arrays.
// sizes: a pair (least, most) for each size; inputs: a tuple (name, format, item_bytes,
// dims) for each input; outputs: a pair (dtype, dims) for each output; tail: the words
// after the tensors.
PyObject *describe(PyObject *object, PyObject *args) {
  auto *self = reinterpret_cast<Function *>(object);
  PyObject *arrayType, *empty, *sizes, *inputs, *outputs, *tail;
  if (!isReady(self) ||
      !PyArg_ParseTuple(args, "OOO!O!O!O!", &arrayType, &empty, &PyTuple_Type,
                        &sizes, &PyTuple_Type, &inputs, &PyTuple_Type, &outputs,
                        &PyTuple_Type, &tail))
    return nullptr;
  if (self->empty) {
    PyErr_SetString(PyExc_RuntimeError, "a function is described once");
    return nullptr;
  }
  Py_ssize_t count = PyTuple_Size(sizes);
  for (Py_ssize_t i = 0; i < count; ++i) {
    Py_ssize_t least, most;
    if (!PyArg_ParseTuple(PyTuple_GetItem(sizes, i), "nn", &least, &most))
      return nullptr;
    self->sizes->push_back({least, most});
  }
  for (Py_ssize_t i = 0, end = PyTuple_Size(inputs); i < end; ++i) {
    Tensor tensor;
    const char *format;
    PyObject *dims, *name;
    if (!PyArg_ParseTuple(PyTuple_GetItem(inputs, i), "UsnO!", &name, &format,
                          &tensor.itemBytes, &PyTuple_Type, &dims) ||
        !readDims(dims, tensor.dims, count))
      return nullptr;
    Py_INCREF(name);
    tensor.name = name;
    tensor.format = format;
    self->inputs->push_back(tensor);
  }
  for (Py_ssize_t i = 0, end = PyTuple_Size(outputs); i < end; ++i) {
    Tensor tensor;
    PyObject *dtype, *dims;
    if (!PyArg_ParseTuple(PyTuple_GetItem(outputs, i), "OO!", &dtype,
                          &PyTuple_Type, &dims) ||
        !readDims(dims, tensor.dims, count))
      return nullptr;
    bool isConstant = true;
    for (const Dim &dim : tensor.dims)
      isConstant &= !dim.isSize;
    if (isConstant) {
      PyObject *shape = PyTuple_New(PyTuple_Size(dims));
      if (!shape)
        return nullptr;
      for (size_t k = 0; k < tensor.dims.size(); ++k)
        PyTuple_SetItem(shape, Py_ssize_t(k),
                        PyLong_FromSsize_t(tensor.dims[k].value));
      tensor.arguments = PyTuple_Pack(2, shape, dtype);
      Py_DECREF(shape);
      if (!tensor.arguments)
        return nullptr;
    }
    Py_INCREF(dtype);
    tensor.dtype = dtype;
    self->outputs->push_back(tensor);
  }
  for (Py_ssize_t i = 0, end = PyTuple_Size(tail); i < end; ++i) {
    void *word = PyLong_AsVoidPtr(PyTuple_GetItem(tail, i));
    if (PyErr_Occurred())
      return nullptr;
    self->tail->push_back(word);
  }
  Py_INCREF(empty);
  self->empty = empty;
  Py_INCREF(arrayType);
  self->arrayType = arrayType;
  self->isSimple =
      Py_ssize_t(self->sizes->size() + self->inputs->size() +
                 self->outputs->size() + self->tail->size()) <= kMostWords;
  Py_RETURN_NONE;
}

// Whether `object` is an array that can be passed for `tensor` as it is. If so, the
// caller must release `view`, and entries of `sizes` that were unknown (-1) are set.
bool takes(Function *self, const Tensor &tensor, PyObject *object,
           Py_buffer &view, Py_ssize_t *sizes) {
  if (reinterpret_cast<PyObject *>(Py_TYPE(object)) != self->arrayType)
    return false;
  // Requests a buffer without strides, which fails for an array that is not contiguous.
  if (PyObject_GetBuffer(object, &view, PyBUF_ND | PyBUF_FORMAT) < 0) {
    PyErr_Clear();
    return false;
  }
  bool fits = view.ndim == int(tensor.dims.size()) && view.format &&
              tensor.format == view.format &&
              uintptr_t(view.buf) % size_t(tensor.itemBytes) == 0;
  for (int i = 0; fits && i < view.ndim; ++i) {
    const Dim &dim = tensor.dims[size_t(i)];
    Py_ssize_t &size = sizes[dim.isSize ? dim.value : 0];
    if (!dim.isSize) {
      fits = view.shape[i] == dim.value;
    } else if (size < 0) {
      auto [least, most] = (*self->sizes)[size_t(dim.value)];
      size = view.shape[i];
      fits = least <= size && size <= most;
    } else {
      fits = view.shape[i] == size;
    }
  }
  if (!fits)
    PyBuffer_Release(&view);
  return fits;
}

// Returns a new array for an output; the caller must release `view`.
PyObject *makeOutput(Function *self, const Tensor &tensor,
                     const Py_ssize_t *sizes, Py_buffer &view) {
  PyObject *arguments = tensor.arguments;
  if (arguments) {
    Py_INCREF(arguments);
  } else {
    PyObject *shape = PyTuple_New(Py_ssize_t(tensor.dims.size()));
    if (!shape)
      return nullptr;
    for (size_t i = 0; i < tensor.dims.size(); ++i)
      PyTuple_SetItem(shape, Py_ssize_t(i),
                      PyLong_FromSsize_t(tensor.dims[i].isSize
                                             ? sizes[tensor.dims[i].value]
                                             : tensor.dims[i].value));
    arguments = PyTuple_Pack(2, shape, tensor.dtype);
    Py_DECREF(shape);
    if (!arguments)
      return nullptr;
  }
  PyObject *array = PyObject_CallObject(self->empty, arguments);
  Py_DECREF(arguments);
  if (array && PyObject_GetBuffer(array, &view, PyBUF_WRITABLE) < 0) {
    Py_DECREF(array);
    array = nullptr;
  }
  return array;
}

PyObject *callGeneral(PyObject *object, PyObject *args, PyObject *kwargs) {
  PyObject *general = PyObject_GetAttrString(object, "_general");
  if (!general)
    return nullptr;
  PyObject *result = PyObject_Call(general, args, kwargs);
  Py_DECREF(general);
  return result;
}

PyObject *call(PyObject *object, PyObject *args, PyObject *kwargs) {
  auto *self = reinterpret_cast<Function *>(object);
  size_t given = size_t(PyTuple_Size(args)), named = 0;
  if (kwargs)
    named = size_t(PyDict_Size(kwargs));
  // Inputs are given either by position or by name; `_general` handles a mixture.
  if (!self->isSimple || given + named != self->inputs->size() ||
      (given > 0 && named > 0))
    return callGeneral(object, args, kwargs);
  size_t sizeCount = self->sizes->size(), outputs = self->outputs->size();
  // One element more than needed: `takes` binds a reference to sizes[0] even if
  // there are no sizes, for constant dimensions.
  Py_ssize_t sizes[kMostWords + 1];
  for (size_t i = 0; i <= sizeCount; ++i)
    sizes[i] = -1;
  void *words[kMostWords];
  Py_buffer views[kMostWords];
  size_t held = 0;
  bool fits = true;
  for (; fits && held < given + named; held += fits) {
    const Tensor &input = (*self->inputs)[held];
    PyObject *array = named ? PyDict_GetItem(kwargs, input.name)
                            : PyTuple_GetItem(args, Py_ssize_t(held));
    fits = array && takes(self, input, array, views[held], sizes);
  }
  for (size_t i = 0; i < sizeCount; ++i)
    fits &= sizes[i] >= 0;
  if (!fits) {
    for (size_t i = 0; i < held; ++i)
      PyBuffer_Release(&views[i]);
    return callGeneral(object, args, kwargs);
  }
  size_t at = 0;
  for (; at < sizeCount; ++at)
    words[at] = reinterpret_cast<void *>(sizes[at]);
  for (size_t i = 0; i < held; ++i)
    words[at++] = views[i].buf;
  PyObject *result = outputs == 1 ? nullptr : PyTuple_New(Py_ssize_t(outputs));
  bool made = outputs == 1 || result;
  for (size_t i = 0; made && i < outputs; ++i) {
    PyObject *array = makeOutput(self, (*self->outputs)[i], sizes, views[held]);
    made = array != nullptr;
    if (!made)
      break;
    words[at++] = views[held++].buf;
    if (outputs == 1)
      result = array;
    else
      PyTuple_SetItem(result, Py_ssize_t(i), array);
  }
  for (void *word : *self->tail)
    words[at++] = word;
  int status = -1;
  if (void *arena = made ? takeArena(self) : nullptr) {
    status = runNow(self, words, arena);
    self->freeArenas->push_back(arena);
  }
  for (size_t i = 0; i < held; ++i)
    PyBuffer_Release(&views[i]);
  if (status == INGOT_OK)
    return result;
  Py_XDECREF(result);
  // If no Python error is set yet, calls the Python method, which repeats the
  // run and reports why it failed.
  if (!PyErr_Occurred())
    return callGeneral(object, args, kwargs);
  return nullptr;
}

PyMethodDef methods[] = {{"run", runWords, METH_VARARGS,
                          "run(words, then=None)\n--\n\nRun with the words of "
                          "an io struct; return the "
                          "status, or what then() returns."},
                         {"describe", describe, METH_VARARGS,
                          "describe(array_type, empty, sizes, inputs, outputs, "
                          "tail)\n--\n\nMake calls "
                          "with arrays possible."},
                         {nullptr, nullptr, 0, nullptr}};

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char *>("A compiled network as a C function.")},
    {Py_tp_init, reinterpret_cast<void *>(init)},
    {Py_tp_call, reinterpret_cast<void *>(call)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverse)},
    {Py_tp_clear, reinterpret_cast<void *>(clear)},
    {Py_tp_dealloc, reinterpret_cast<void *>(deallocate)},
    {Py_tp_methods, methods},
    {0, nullptr}};

PyType_Spec spec = {
    "ingot._native.Function", sizeof(Function), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};

PyModuleDef module = {PyModuleDef_HEAD_INIT,
                      "_native",
                      "Calls of compiled networks.",
                      -1,
                      nullptr,
                      nullptr,
                      nullptr,
                      nullptr,
                      nullptr};

} // namespace

PyMODINIT_FUNC PyInit__native() {
  if (!pools) {
    forgetPools();
    pthread_atfork(nullptr, nullptr, forgetPools);
  }
  PyObject *result = PyModule_Create(&module);
  if (!result)
    return nullptr;
  PyObject *type = PyType_FromSpec(&spec);
  if (!type || PyModule_AddObjectRef(result, "Function", type) < 0) {
    Py_XDECREF(type);
    Py_DECREF(result);
    return nullptr;
  }
  Py_DECREF(type);
  return result;
}
