const LOCKED = "cannot be used on a locked";
const UNREADABLE = "is not in the readable state and cannot be";
const NO_VIEW = "Argument 1 is not a view on an ArrayBuffer or SharedArrayBuffer";

/** Deno's words for texts of web-streams-polyfill. */
const TEXTS: Readonly<Record<string, string>> = {
  "This stream has already been locked for exclusive reading by another reader": "ReadableStream is locked",
  "This stream has already been locked for exclusive writing by another writer":
    "The stream is already locked",
  "Cannot construct a ReadableStreamBYOBReader for a stream not constructed with a byte source":
    "Cannot use a BYOB reader with a non-byte stream",
  "Cannot cancel a stream that already has a reader": "Cannot cancel a locked ReadableStream.",
  "Cannot close a stream that already has a writer":
    "The writable stream is locked, therefore cannot be closed.",
  "Cannot abort a stream that already has a writer":
    "The writable stream is locked, therefore cannot be aborted.",
  "The stream is closing or closed and cannot be written to": "The stream is closing or is closed.",
  "The stream (in ${t} state) is not in the writable state and cannot be closed":
    "Writable stream is closed or errored.",
  [`The stream (in \${t} state) ${UNREADABLE} enqueued to`]:
    "Cannot enqueue chunk when underlying stream is not readable",
  [`The stream (in \${e} state) ${UNREADABLE} closed`]:
    "ReadableByteStreamController's stream is not in a readable state",
  "Reader was released and can no longer be used to monitor the stream's closedness":
    "Reader was released and can no longer be used to monitor the stream's closedness.",
  "Writer was released and can no longer be used to monitor the stream's closedness":
    "The writer has already been released.",
  "Reader was released": "The reader was released.",
  "Readable side is not in a state that permits enqueue": "Readable stream is unavailable",
  "The stream is not in a state that permits enqueue": "The stream controller cannot close or enqueue",
  "The stream is not in a state that permits close": "The stream controller cannot close or enqueue",
  "TransformStream terminated": "The stream has been terminated.",
  "Size must be a finite, non-NaN, non-negative number.":
    'Cannot enqueue value with size: chunk size ${r===1/0?"is invalid":"must be a positive number"}',
  "Invalid highWaterMark": 'Expected highWaterMark to be a positive number or Infinity, got "${r}".',
  "autoAllocateChunkSize must be greater than 0": '"autoAllocateChunkSize" must be greater than 0',
  "bytesWritten out of range": '"bytesWritten" out of range',
  "bytesWritten must be greater than 0 when calling respond() on a readable stream":
    '"bytesWritten" must be greater than 0 when calling respond() on a readable stream',
  "options.min must be greater than 0": "options.min must be non-zero",
  "options.min must be less than or equal to view's length":
    "options.min must be smaller or equal to view's size",
  "options.min must be less than or equal to view's byteLength":
    "options.min must be smaller or equal to view's size",
  "The strategy for a byte stream cannot have a size function":
    "Failed to construct 'ReadableStream': When underlying source is \"bytes\", strategy.size must be 'undefined'",
  "Invalid type is specified":
    "Failed to construct 'WritableStream': WritableStream does not support 'type' in the underlying sink",
  [`ReadableStream.prototype.pipeThrough ${LOCKED} ReadableStream`]: "ReadableStream is already locked",
  [`ReadableStream.prototype.pipeThrough ${LOCKED} WritableStream`]:
    "Target WritableStream is already locked",
  [`ReadableStream.prototype.pipeTo ${LOCKED} ReadableStream`]: "ReadableStream is already locked.",
  [`ReadableStream.prototype.pipeTo ${LOCKED} WritableStream`]:
    "destination WritableStream is already locked.",
  "ReadableStream.prototype.pipeTo's first argument must be a WritableStream":
    "Failed to execute 'pipeTo' on 'ReadableStream': Argument 1 is not of type WritableStream",
  "stream is closed or draining": "Cannot enqueue chunk after a close has been requested",
  "The stream has already been closed; do not close it again!": "Closed already requested.",
  "chunk must have non-zero byteLength":
    "Failed to execute 'enqueue' on 'ReadableByteStreamController': Argument 1 Length must be non-zero",
};

/** Errors that have one of Node's codes in Deno: the library's text, the code and Deno's words. */
const CODED: readonly (readonly [text: string, code: string, words: string])[] = [
  ["Illegal constructor", "ERR_ILLEGAL_CONSTRUCTOR", "Illegal constructor"],
  ...["readable", "writable"].map(
    (side) =>
      [
        `Invalid ${side}Type specified`,
        "ERR_INVALID_ARG_VALUE",
        `Failed to construct 'TransformStream': ${side}Type transformers not supported`,
      ] as const,
  ),
  ...(
    [
      ["view must be an array buffer view", "read' on 'ReadableStreamBYOBReader"],
      ["chunk must be an array buffer view", "enqueue' on 'ReadableByteStreamController"],
      ["You can only respond with array buffer views", "respondWithNewView' on 'ReadableStreamBYOBRequest"],
    ] as const
  ).map(
    ([text, where]) => [text, "ERR_INVALID_ARG_TYPE", `Failed to execute '${where}': ${NO_VIEW}`] as const,
  ),
];

/** Code of the library, and what takes its place. The contexts of arguments are named beforehand. */
const CODE: readonly (readonly [code: string | RegExp, replacement: string])[] = [
  // The source may have put anything in the class's place.
  ['"DOMException"!==e.name', '"DOMException"!==e?.name'],
  ['new TypeError("The iterator method must return an object")', "$noIterator(n)"],
  [
    'new TypeError("The promise returned by the iterator.next() method must fulfill with an object")',
    '$noIterator(e,"failed to iterate next value because the next() method")',
  ],
  [
    'new TypeError("The promise returned by the iterator.return() method must fulfill with an object")',
    '$noIterator(e,"failed to close iterator because the return() method")',
  ],
  ['"Cannot "+e+" a stream using a released reader"', '"Reader has no associated stream."'],
  [
    '"Cannot "+e+" a stream using a released writer"',
    '"A writable stream is not associate"+("write to"===e?"":"d")+" with the writer"+("desiredSize"===e?"":".")',
  ],
  [/`\$\{t\} has member '(\w+)' that`/g, '$member(t,"$1")'],
  [/\bM\((\w),"(\w+)","(\w+)"\)/g, 'M($1,"$2","$3",t)'],
  ["function M(e,t,r)", "function M(e,t,r,o)"],
  [
    "`${t} is required in '${r}'.`",
    "`${o} can not be converted to '${r}' because '${t}' is required in '${r}'`",
  ],
  // An argument that is undefined isn't missing.
  ["function $(e,t,r){if(void 0===e)", "function $(e,t,r){if(1>e)"],
  [/\$\(e,1,/g, "$(arguments.length,1,"],
  ["new TypeError(`Parameter ${t} is required in '${r}'.`)", "$missing(r)"],
  [
    "if(void 0===e)return d(\"Parameter 1 is required in 'pipeTo'.\")",
    `if(arguments.length<1)return d($missing("Failed to execute 'pipeTo' on 'ReadableStream'"))`,
  ],
  // Neither null nor undefined is a dictionary with required members.
  [/L\(e,t\);(?=const r=null==e\?void 0:e\.(?:highWaterMark;return M|readable;))/g, "L(e??0,t);"],
  // A BigInt is no number, and a symbol as an enumeration has a text.
  ["Number(e)", "+e"],
  ["(e=`${e}`)", "(e=String(e))"],
  ["if(void 0!==o.type)", "if(null!=o.type)"],
  [
    "if(0===e.byteLength)return d(",
    `try{L(t,"Failed to execute 'read' on 'ReadableStreamBYOBReader': Argument 2")}catch(e){return d(e)}$&`,
  ],
  ['get abortReason(){if(!Lt(this))throw Ht("abortReason");return this._abortReason}', ""],
  ["abortReason:{enumerable:!0},", ""],
  // Options that aren't given are no objects, which would inherit what a source has put on `Object.prototype`, but for the strategy of
  // readable and writable streams, as in Deno.
  [
    /(?<=(?:constructor|getReader|pipeThrough|pipeTo|values|read)\((?:\w=?[^,)]*,)*\w=)(?<!\bclass (?:Read|Writ)ableStream\{constructor\(e=\{\},t=)\{\}/g,
    "void 0",
  ],
  [
    // The first: what follows asks for an object.
    /new TypeError\(`\$\{t\} is not an object\.`\)/,
    '$coded(`${t} can not be converted to a dictionary`,"ERR_INVALID_ARG_TYPE")',
  ],
  ["`${t} is not an object.`", "`${t} is not an object`"],
  ["`${t} is not a function.`", "`${t} is not a function`"],
  ["is not an AbortSignal.`", "is not of type AbortSignal`"],
  [/is not a (Readable|Writable)Stream\.`/g, "is not of type $1Stream`"],
  [
    /new TypeError\(`\$\{t\} '\$\{e\}' is not a valid enumeration value for (\w+)`\)/g,
    '$coded(`${t.slice(0,t.indexOf(": "))}: The provided value \'${e}\' is not a valid enum value of type $1`,"ERR_INVALID_ARG_VALUE")',
  ],
];

/** Code of the library that settles its promises later than Deno does, or in another order, and what takes its place. */
const STEPS: readonly (readonly [code: string, replacement: string])[] = [
  // What a callback returns is awaited only if it is a promise, and only once.
  [
    "function g(e,t,r){try{return c(S(e,t,r))}",
    'function g(e,t,r){try{const o=S(e,t,r);return"function"==typeof o?.then?f(s(o),()=>{}):c(void 0)}',
  ],
  ["_(g(o,r,[e]),", "_(c(S(o,r,[e])),"],
  ["b(c(r()),()=>(t._started=!0,Pe(t)", "b(s(r()),()=>(t._started=!0,Pe(t)"],
  ["b(c(r()),()=>(t._started=!0,sr(t)", "b(s(r()),()=>(t._started=!0,sr(t)"],
  // Reads end before `closed` is resolved.
  ["if(void 0!==t&&(A(t),J(t))){const e=", "if(void 0===t)return;if(J(t)){const e="],
  ["e.forEach(e=>{e._closeSteps()})}}function kr", "e.forEach(e=>{e._closeSteps()})}A(t)}function kr"],
  // A transformer or a branch of a tee that isn't asynchronous is done at once.
  [
    "(r,o)=>g(e,t,[r,o])}function Qr",
    '(r,o)=>{let n;try{n=S(e,t,[r,o])}catch(e){return d(e)}return"function"==typeof n?.then?s(n):void 0}}function Qr',
  ],
  ["return Kr(r,e),c(void 0)}catch", "return void Kr(r,e)}catch"],
  [
    "function Zr(e,t){return _(e._transformAlgorithm(t),",
    "function Zr(e,t){const r=e._transformAlgorithm?.(t);return void 0===r?c(void 0):_(r,",
  ],
  ["function h(){if(l)return s=!0,c(void 0);l=!0;return K(t", "function h(){if(l)return void(s=!0);l=!0;K(t"],
  ["_errorSteps:()=>{l=!1}}),c(void 0)}function _(", "_errorSteps:()=>{l=!1}})}function _("],
  [
    "e._pulling=!0;b(e._pullAlgorithm(),()=>(e._pulling=!1,e._pullAgain&&(e._pullAgain=!1,sr(e)),null)",
    "e._pulling=!0;const t=()=>(e._pulling=!1,e._pullAgain&&(e._pullAgain=!1,sr(e)),null),r=e._pullAlgorithm();void 0===r?t():b(r,t",
  ],
  // The second branch of a body's tee gets copies.
  [
    "(e):function(e){const t=H(e);let r,o,n,a,i,",
    "(e):function(e,$copy){const $stream=e,t=H(e);let r,o,n,a,i,",
  ],
  ["[n,a]}(e)}function Sr", "[n,a]}(e,t)}function Sr"],
  [
    "const t=e,r=e;d||fr(",
    "const t=e;let r=e;if(!f&&$copy)try{r=$copy(e)}catch(e){br(n._readableStreamController,e),br(a._readableStreamController,e),i(Or($stream,e));return}d||fr(",
  ],
  // An iterator takes a piece that is there at once.
  [
    "next(){const e=()=>this._nextSteps();return",
    "next(){const e=()=>this._nextSteps(),t=this._reader._ownerReadableStream?._readableStreamController;if(void 0===this._ongoingPromise&&void 0!==t&&void 0===t._pendingPullIntos&&t._queue.length>0){let e;return K(this._reader,{_chunkSteps:t=>{e=t}}),s({value:e,done:!1})}return",
  ],
  ["y(()=>t({value:e,done:!1}))", "t({value:e,done:!1})"],
  [
    "_errorSteps:t=>{this._ongoingPromise=void 0,this._isFinished=!0,W(e),r(t)}}),o}",
    "_errorSteps:t=>{this._ongoingPromise=void 0,this._isFinished=!0,W(e),r(t)}}),f(o)}",
  ],
  [
    "_(this._ongoingPromise,t,t):t(),this._ongoingPromise}",
    "_(this._ongoingPromise,t,t):t(),_(this._ongoingPromise,()=>({value:e,done:!0}))}",
  ],
  ["return W(t),_(r,()=>({value:e,done:!0}))}", "return W(t),r}"],
  // A pipe waits for its destination only if that is full.
  [
    "p(u((t,r)=>{!function o(n){n?t():f(_?c(!0):f(s._readyPromise,()=>u((t,r)=>{K(l,{_chunkSteps:r=>{y=f(zt(s,r),void 0,e),t(!1)},_closeSteps:()=>t(!0),_errorSteps:r})})),o,r)}(!1)}))",
    "let $on=!1,$next=!1;const $request={_chunkSteps:e=>{y=zt(s,e),p(y),$on?$next=!0:$pump()},_closeSteps:e,_errorSteps:e},$pump=()=>{$on=!0;do{if($next=!1,_)break;if(r._backpressure){b(s._readyPromise,$pump,e);break}K(l,$request)}while($next);$on=!1};$pump()",
  ],
  ["()=>Promise.all(o.map(e=>e()))", "()=>f(Promise.all(o.map(e=>e())))"],
  ["const e=y;return f(y,()=>e!==y?C():void 0)", "const e=y,t=()=>e!==y?C():void 0;return f(y,t,t)"],
];

/** What the replaced code calls, and what the guest does with streams beyond the standard. */
const HELPERS = `
export const teeWith=(stream,copy)=>yr(stream,copy);
const $coded=(text,code,Type=TypeError)=>Object.assign(new Type(text),{code});
const $noIterator=(value,what="could not be iterated because iterator method")=>{
  const type=value===null?"null":typeof value==="bigint"?"bigInt":typeof value;
  return new TypeError("Argument 1 "+what+" did not return "+(what.includes("()")?"an ":"")+"object, but "+type[0].toUpperCase()+type.slice(1)+".");
};
const $missing=(prefix)=>$coded(prefix+": 1 argument required, but only 0 present","ERR_MISSING_ARGS");
const $dictionaries={__proto__:null,ReadableStream:"UnderlyingSource",WritableStream:"UnderlyingSink",TransformStream:"Transformer",pipeThrough:"ReadableWritablePair"};
const $member=(context,name)=>{
  const at=context.indexOf(": "),first=context.indexOf("'")+1,argument=context.slice(at+2),what=context.slice(first,context.indexOf("'",first));
  const own=argument==="Argument 1"?$dictionaries[what]:undefined,isNew=context[10]==="c";
  const dictionary=own??(isNew?"QueuingStrategy":what==="read"?"ReadableStreamBYOBReaderReadOptions":"StreamPipeOptions");
  const shown=own!==undefined&&isNew?own[0].toLowerCase()+own.slice(1):argument;
  return context.slice(0,at)+": '"+name+"' of '"+dictionary+"' ("+shown+")";
};
`;

/**
 * Rewrites the errors of web-streams-polyfill as Deno words them, with the codes that Deno sets.
 * @throws Error when the library no longer has one of the texts.
 */
export function wordStreams(library: string): string {
  let code = nameContexts(
    library.replace("void 0===e&&(e=null)", 'void 0===e?e=null:I(e,"First parameter")'),
  );
  const replace = (text: string | RegExp, replacement: string): void => {
    const before = code;
    code =
      typeof text === "string"
        ? code.replaceAll(text, () => replacement.replace("$&", () => text))
        : code.replace(text, replacement);
    if (code === before) throw new Error(`web-streams-polyfill no longer has ${String(text)}`);
  };
  // The first is the stream's own, the second its writer's.
  const closing = /"Cannot close an already-closing stream"/;
  replace(closing, '"The writable stream is already closing."');
  replace(closing, '"The associated stream is already closing."');
  for (const [text, errorCode, words] of CODED) {
    const Type = text.startsWith("Invalid") ? "RangeError" : "TypeError";
    replace(
      new RegExp(`new ${Type}\\("${text}"\\)`, "g"),
      `$coded(${JSON.stringify(words)},"${errorCode}",${Type})`,
    );
  }
  for (const [text, words] of Object.entries(TEXTS)) {
    const quote = text.includes("${") ? "`" : '"';
    replace(quote + text + quote, words.includes("${") ? `\`${words}\`` : JSON.stringify(words));
  }
  for (const [text, replacement] of [...CODE, ...STEPS]) replace(text, replacement);
  return HELPERS + code;
}

/** Names arguments as Web IDL does: "First parameter" becomes "Failed to construct 'ReadableStream': Argument 1". */
function nameContexts(library: string): string {
  const MEMBER =
    /[;{}](constructor|getReader|pipeThrough|pipeTo|values|respondWithNewView|respond|enqueue|read)\((?!\))/g;
  return library.replace(
    /"(First|Second|Third) parameter"|\(t,"options"\)|(?<=\$\(e,1,)"\w+"/g,
    (text: string, ordinal: string | undefined, at: number) => {
      const before = library.slice(0, at);
      const start = before.lastIndexOf("class ");
      const name = /^class (\w+)/.exec(before.slice(start))?.[1] ?? "";
      const member = [...before.slice(start).matchAll(MEMBER)].at(-1)?.[1] ?? "";
      const prefix =
        member === "constructor"
          ? `Failed to construct '${name}'`
          : `Failed to execute '${member}' on '${name}'`;
      if (text.startsWith("(")) return `(t,"${prefix}: Argument 2")`;
      if (ordinal === undefined) return `"${prefix}"`;
      return `"${prefix}: Argument ${["First", "Second", "Third"].indexOf(ordinal) + 1}"`;
    },
  );
}
