/** The reason for a difference that is wanted, or known and accepted. */
export type Declared = string;

const GARBLED =
  "Defect of the reference: it passes UTF-8 through atob, so every character past ASCII is garbled.";
const EXPANDED =
  "Defect of the reference: the source is placed by String.replace, which expands `$&`, `` $` `` and `$$`.";
const FORGED =
  "Defect of the reference: it takes the last line of the output for the result, so whatever prints later destroys it.";
const POISONED =
  "Defect of the reference: its library and its printing of the result use what the source may have replaced; a result can't be forged here.";
const NO_OUTCOME =
  "Defect of the reference: a program that ends itself has neither result nor error; here it has the nodes' error text.";
const REPRINTED =
  "The reference reprints the source before running it, so a function's text has other blanks; here only TypeScript is reprinted.";
const HOST = "Names a file or a number of the machine that runs the reference.";
const PARSER =
  "The reference parses every source as TypeScript; here a source that is JavaScript is run as JavaScript.";
const ENGINE = "V8 14.6 and its locale data here, 15.0 in the reference.";
const OLDER_ENGINE = "V8 13.6 of Node 24 has other words for this error.";
const UNSHARED = "Removed, as Node 24 lacks it: oracle nodes on different versions of Node must agree.";

/** Differences from the reference by case id. The comparison fails on one that no longer exists, as on one that isn't listed. */
export const DECLARED: Readonly<Record<string, Declared>> = {
  ...(process.versions.v8.startsWith("13.") && {
    "mixedEdges/Intl bad locale": OLDER_ENGINE,
    "returns/detached view": OLDER_ENGINE,
    "thrown/BigInt negative exponent": OLDER_ENGINE,
  }),
  "arguments/unicode argument": GARBLED,
  "arguments/unicode secret": GARBLED,
  "dates/Temporal instant": UNSHARED,
  "dates/Temporal zoned": UNSHARED,
  "dates/Temporal plain date": UNSHARED,
  "dates/Temporal duration": UNSHARED,
  "dates/Temporal bad input": UNSHARED,
  "dates/Temporal.Now": UNSHARED,
  "dates/Temporal printed": UNSHARED,
  "globals/names": UNSHARED,
  "globals/typeof everything": UNSHARED,
  "mixedEdges/Temporal arithmetic": UNSHARED,
  "mixedEdges/Temporal mixing": UNSHARED,
  "mixedEdges/Temporal compare": UNSHARED,
  "mixedEdges/Temporal round trip": UNSHARED,
  "returns/toHex of Uint8Array": UNSHARED,
  "language/Map upsert": UNSHARED,
  "language/Iterator.concat": UNSHARED,
  "text/native hex invalid": UNSHARED,
  "text/native base64 and hex": UNSHARED,
  "buffers/deprecated constructor": FORGED,
  "console/printing after the result": FORGED,
  "console/format specifiers with odd values": REPRINTED,
  "language/function text": REPRINTED,
  "deno/args": HOST,
  "mixedPlatform/process values": HOST,
  "deno/process.version": HOST,
  "deno/exit": NO_OUTCOME,
  "deno/exit after printing": NO_OUTCOME,
  "deno/process.exit": NO_OUTCOME,
  "thrown/message a function":
    "The message is no JSON, so the reference has neither result nor error; here the error is an empty text.",
  "http/fetch new Request":
    "Defect of the reference: its fetch spreads a Request, which has no own properties; here a Request works.",
  "language/Math.sumPrecise": ENGINE,
  "mixedSources/locale currency": ENGINE,
  "language/regular expression features": EXPANDED,
  "syntax/dollar ampersand": EXPANDED,
  "syntax/dollar backtick": EXPANDED,
  "syntax/dollar patterns": EXPANDED,
  "syntax/closing the wrapper":
    "A source that closes the wrapper is refused either way; here with the text for syntax errors.",
  "syntax/generic looking comparison": PARSER,
  "syntax/html comment": PARSER,
  "typescript/function text of typed code": REPRINTED,
  "typescript/type arguments without anything else": PARSER,
  "mixedEdges/BigInt replaced": POISONED,
  "mixedEdges/Error replaced": POISONED,
  "mixedEdges/JSON.stringify replaced": POISONED,
  "mixedEdges/String.prototype.padStart replaced": POISONED,
  "mixedEdges/Symbol.hasInstance of Uint8Array": POISONED,
  "mixedEdges/TextEncoder replaced": POISONED,
  "mixedEdges/Uint8Array.prototype.forEach replaced": POISONED,
  "mixedEdges/console.log replaced for good": POISONED,
  "mixedEdges/toString replaced": POISONED,
  "mixedEdges/assigning NaN": "The error names the global object `[object Object]` instead of `#<Window>`.",
  "mixedEdges/assigning to undefined":
    "The error names the global object `[object Object]` instead of `#<Window>`.",
  "nodeModules/absolute path":
    "No file of the machine is read; the reference reads it and fails to parse it.",
  "nodeModules/jsr specifier":
    "The reference names the address that it could not reach and reports the attempt on the console.",
};
