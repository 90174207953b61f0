import { createAbort } from "../events/abort.ts";
import { createDomException } from "../events/domException.ts";
import { Event, createEventType } from "../events/event.ts";
import { createEventTarget } from "../events/eventTarget.ts";
import type { Internals } from "../internals.ts";
import { exposeInterface } from "../webIdl.ts";

/** DOM Standard: events, abort signals; Web IDL: `DOMException`. */
export default function eventsChunk({ setTimeout }: Internals): Readonly<Record<string, unknown>> {
  const DOMException = createDomException();
  const target = createEventTarget(DOMException, setTimeout);
  const { EventTarget } = target;
  const CustomEvent = createEventType("CustomEvent", { detail: null });
  const ErrorEvent = createEventType("ErrorEvent", {
    message: "",
    filename: "",
    lineno: 0,
    colno: 0,
    error: undefined,
  });
  const MessageEvent = createEventType("MessageEvent", {
    data: null,
    origin: "",
    lastEventId: "",
    source: null,
    ports: [],
  });
  const CloseEvent = createEventType("CloseEvent", { wasClean: false, code: 0, reason: "" });
  const ProgressEvent = createEventType("ProgressEvent", { lengthComputable: false, loaded: 0, total: 0 });
  const PromiseRejectionEvent = createEventType("PromiseRejectionEvent", {
    promise: undefined,
    reason: undefined,
  });
  const QuotaExceededError = class extends DOMException {
    constructor(message: unknown = "") {
      super(message, "QuotaExceededError");
    }
  };
  exposeInterface(QuotaExceededError, "QuotaExceededError");
  return {
    DOMException,
    QuotaExceededError,
    Event,
    EventTarget,
    ...createAbort(target, DOMException, setTimeout),
    CustomEvent,
    ErrorEvent,
    MessageEvent,
    CloseEvent,
    ProgressEvent,
    PromiseRejectionEvent,
    handlerAttribute: target.handlerAttribute,
    dispatch: target.dispatch,
    addEventListener: EventTarget.prototype.addEventListener,
    removeEventListener: EventTarget.prototype.removeEventListener,
    dispatchEvent: EventTarget.prototype.dispatchEvent,
  };
}
