/**
 * Which functions of Deno's modules differ from ours in their properties: by member of the `node` chunk and path in it, as {@link shape}
 * reads them.
 */
export const SHAPES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  util: {
    "": "diff/2+ debuglog/2+ debug/2+=debuglog stripVTControlCharacters/1+ styleText/3+ isArray/1 _extend/2+ toUSVString/1+ log/0+ getCallSites/0+ parseEnv/1+ queryObjects/2+ setTraceSigInt/1+ transferableAbortController/0+ transferableAbortSignal/1+ getSystemErrorMap/0+ getSystemErrorMessage/1+ getSystemErrorName/1+ isDeepStrictEqual/3+",
    types:
      "isCryptoKey/1+ isKeyObject/1+ isArrayBufferView/1+ isBigInt64Array/1+ isBigUint64Array/1+ isFloat16Array/1+ isFloat32Array/1+ isFloat64Array/1+ isInt8Array/1+ isInt16Array/1+ isInt32Array/1+ isUint8Array/1+ isUint8ClampedArray/1+ isUint16Array/1+ isUint32Array/1+ isArgumentsObject/1 isArrayBuffer/1 isBigIntObject/1 isBooleanObject/1 isDataView/1 isDate/1 isMap/1 isModuleNamespaceObject/1 isNumberObject/1 isProxy/1 isSet/1 isSharedArrayBuffer/1 isStringObject/1 isSymbolObject/1 isWeakMap/1 isWeakSet/1",
  },
  assert: {
    "": "fail/5+ equal/3+ notEqual/3+ deepEqual/3+ notDeepEqual/3+ deepStrictEqual/3+ notDeepStrictEqual/3+ strictEqual/3+ notStrictEqual/3+ partialDeepStrictEqual/3+ match/3+ doesNotMatch/3+ throws/1+ doesNotThrow/1+ Assert/1+ CallTracker/0+=deprecated strict/0+",
  },
  asyncHooks: {
    "": "createHook/1+ executionAsyncId/0+ triggerAsyncId/0+ executionAsyncResource/0+",
  },
  diagnosticsChannel: {
    "": "channel/1+ hasSubscribers/1+ subscribe/2+ tracingChannel/1+ unsubscribe/2+",
    "Channel.prototype": "unsubscribe/0 unbindStore/0 publish/0",
  },
  perfHooks: {
    "": "monitorEventLoopDelay/0+",
  },
  events: {
    "": "captureRejections/0= defaultMaxListeners/0+= EventEmitterAsyncResource/0=getEventEmitterAsyncResource getEventListeners/2+ setMaxListeners/0+ getMaxListeners/1+ listenerCount/2+ init/1+=",
    prototype:
      "setMaxListeners/1+ getMaxListeners/0+ emit/1+ addListener/2+ on/2+=addListener prependListener/2+ once/2+ prependOnceListener/2+ removeListener/2+ off/2+=removeListener removeAllListeners/1+ listeners/1+ rawListeners/1+ listenerCount/2+ eventNames/0+",
  },
  paths: {
    "posix.default":
      "basename/1+ dirname/1+ extname/1+ format/1+ isAbsolute/1+ join/0+ normalize/1+ parse/1+ relative/2+ resolve/0+ toNamespacedPath/1+ _makeLong/1+=toNamespacedPath matchesGlob/2",
    "win32.default":
      "basename/1+ dirname/1+ extname/1+ format/1+ isAbsolute/1+ join/0+ normalize/1+ parse/1+ relative/2+ resolve/0+ toNamespacedPath/1+ _makeLong/1+=toNamespacedPath matchesGlob/2",
  },
  url: {
    "": "parse/3+ format/2+ resolve/2+ resolveObject/2+ domainToASCII/1+ domainToUnicode/1+ fileURLToPath/1+ fileURLToPathBuffer/1+ pathToFileURL/1+",
  },
  stringDecoder: {
    "StringDecoder.prototype": "write/1+ end/1+ text/2+ lastNeed/0=get lastTotal/0=get",
  },
  zlib: {
    "": "crc32/1+ deflate/3+=asyncBufferWrapper deflateSync/2+=syncBufferWrapper gzip/3+=asyncBufferWrapper gzipSync/2+=syncBufferWrapper deflateRaw/3+=asyncBufferWrapper deflateRawSync/2+=syncBufferWrapper unzip/3+=asyncBufferWrapper unzipSync/2+=syncBufferWrapper inflate/3+=asyncBufferWrapper inflateSync/2+=syncBufferWrapper gunzip/3+=asyncBufferWrapper gunzipSync/2+=syncBufferWrapper inflateRaw/3+=asyncBufferWrapper inflateRawSync/2+=syncBufferWrapper brotliCompress/3+=asyncBufferWrapper brotliCompressSync/2+=syncBufferWrapper brotliDecompress/3+=asyncBufferWrapper brotliDecompressSync/2+=syncBufferWrapper zstdCompress/3+=asyncBufferWrapper zstdCompressSync/2+=syncBufferWrapper zstdDecompress/3+=asyncBufferWrapper zstdDecompressSync/2+=syncBufferWrapper createDeflate/1+=value createInflate/1+=value createDeflateRaw/1+=value createInflateRaw/1+=value createGzip/1+=value createGunzip/1+=value createUnzip/1+=value createBrotliCompress/1+=value createBrotliDecompress/1+=value createZstdCompress/1+=value createZstdDecompress/1+=value",
  },
  timersPromises: {
    "": "setTimeout/2+ setImmediate/1+ setInterval/2+=setIntervalAsync",
  },
  punycode: {
    "": "decode/1+ encode/1+ toASCII/1+ toUnicode/1+",
    ucs2: "decode/1+=ucs2decode encode/1+=ucs2encode",
  },
};

/** The order of the names of Deno's modules, where it is not ours, by path as above. */
export const ORDERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  util: {
    inspect: "colors styles custom defaultOptions",
    "": "callbackify diff debuglog debug format formatWithOptions inspect MIMEParams MIMEType parseArgs promisify stripVTControlCharacters styleText types isArray _extend inherits TextDecoder TextEncoder toUSVString log deprecate aborted getCallSites parseEnv queryObjects setTraceSigInt transferableAbortController transferableAbortSignal convertProcessSignalToExitCode getSystemErrorMap getSystemErrorMessage getSystemErrorName isDeepStrictEqual",
    types:
      "isCryptoKey isKeyObject isArrayBufferView isBigInt64Array isBigUint64Array isFloat16Array isFloat32Array isFloat64Array isInt8Array isInt16Array isInt32Array isUint8Array isUint8ClampedArray isUint16Array isUint32Array isAnyArrayBuffer isArgumentsObject isArrayBuffer isAsyncFunction isBigIntObject isBooleanObject isBoxedPrimitive isDataView isDate isGeneratorFunction isGeneratorObject isMap isMapIterator isModuleNamespaceObject isNativeError isNumberObject isPromise isProxy isRegExp isSet isSetIterator isSharedArrayBuffer isStringObject isSymbolObject isTypedArray isWeakMap isWeakSet",
  },
  assert: {
    "Assert.prototype":
      "fail ok equal notEqual deepEqual notDeepEqual deepStrictEqual notDeepStrictEqual strictEqual notStrictEqual partialDeepStrictEqual throws rejects doesNotThrow doesNotReject ifError match doesNotMatch",
  },
  asyncHooks: {
    "": "AsyncLocalStorage createHook executionAsyncId triggerAsyncId executionAsyncResource asyncWrapProviders AsyncResource",
    "AsyncResource.prototype": "asyncId runInAsyncScope emitDestroy bind",
  },
  diagnosticsChannel: {
    "": "channel hasSubscribers subscribe tracingChannel unsubscribe Channel",
  },
  url: {
    "": "URL URLSearchParams urlToHttpOptions Url parse format resolve resolveObject domainToASCII domainToUnicode fileURLToPath fileURLToPathBuffer pathToFileURL",
  },
};
