import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import packaged from '@jitl/quickjs-wasmfile-release-sync';
import {
  type EmscriptenModuleLoader,
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSEmscriptenModule,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core';

/** As much of WebAssembly as is used here; TypeScript knows it only together with the whole of a browser. */
declare const WebAssembly: {
  readonly Memory: new (size: { initial: number; maximum: number }) => { grow(pages: number): number };
  compile(bytes: Uint8Array): Promise<object>;
};

/** A QuickJS of its own, with memory of its own, for one run. */
export interface Engine {
  readonly quickjs: QuickJSWASMModule;
  /** Sets what is called when an allocation finds no room. */
  onFull(callback: () => void): void;
}

/** The package's types describe its CommonJS form, which wraps the variant once more. */
const variant = packaged as unknown as QuickJSSyncVariant;

const PAGE_BYTES = 65_536;
/** The smallest memory that the build accepts. */
const PAGES_MIN = 256;
/** What the build puts before the heap, a stack of 5 MiB above all, and room for a runtime and its context. */
const BEFORE_HEAP_BYTES = 5_600_000;

const compiled = readFile(fileURLToPath(import.meta.resolve('@jitl/quickjs-wasmfile-release-sync/wasm'))).then(
  (bytes) => WebAssembly.compile(bytes),
);

/**
 * The memory is of a fixed size, and that is the limit: QuickJS's own (`setMemoryLimit`) does not add up strings and
 * typed arrays in this build, and the library loses sight of memory that moves as it grows.
 */
export async function prepareEngine(memoryBytes: number): Promise<Engine> {
  const wanted = Math.ceil((BEFORE_HEAP_BYTES + memoryBytes) / PAGE_BYTES);
  const pages = Math.max(PAGES_MIN, wanted);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const ballastBytes = (pages - wanted) * PAGE_BYTES;
  const quickjs = await newQuickJSWASMModuleFromVariant(
    newVariant(guarded(ballastBytes), { wasmModule: await compiled, wasmMemory: memory }),
  );
  return {
    quickjs,
    onFull: (callback) => {
      memory.grow = () => {
        callback();
        throw new RangeError('the memory is full');
      };
    },
  };
}

/** The engine's last words when it aborts would go to the service's own output. */
const QUIET = { print: () => {}, printErr: () => {} };

/** The variant with an allocator that throws: the library would write to where it was given nothing. */
function guarded(ballastBytes: number): QuickJSSyncVariant {
  const guard = (module: QuickJSEmscriptenModule): QuickJSEmscriptenModule => {
    const allocate = module._malloc;
    module._malloc = (size) => {
      const pointer = allocate(size);
      if (pointer === 0) throw new RangeError('the memory is full');
      return pointer;
    };
    // Takes the room by which the smallest memory is larger than the one asked for; pages nobody touches cost nothing.
    if (ballastBytes > 0) module._malloc(ballastBytes);
    return module;
  };
  return {
    ...variant,
    importModuleLoader: async () => {
      const load = (await variant.importModuleLoader()) as EmscriptenModuleLoader<QuickJSEmscriptenModule>;
      return async (options) => guard(await load({ ...options, ...QUIET }));
    },
  };
}
