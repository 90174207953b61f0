import type { Hex } from "viem";
import { faultyNodesOf } from "../../chainlink/quorum.ts";
import { fromHexText, toHexText } from "../../lib/hex.ts";
import { keccak256 } from "../../lib/keccak.ts";
import { decodeProof, encodeProof, MalformedProofError, PROOF_BYTES, type Proof } from "../../vrf/proof.ts";
import type { ReportSigner } from "../signer.ts";
import { ByteReader, MalformedMessageError, uintBytes } from "./byteReader.ts";
import type { Endorsement, Evidence, Message, Proposal, Reveal, Sealed } from "./message.ts";
import { recoverAddress } from "./recoverAddress.ts";

/** Longest message, in bytes: a body of 524,288 bytes holds one, with its length. */
export const MAX_MESSAGE_BYTES = 524_284;
/** Longest observation among few nodes, in bytes: 100 presets with results of 325 bytes. */
const MAX_OBSERVATION_BYTES = 32_768;
/** Upper bound for what surrounds an observation in a proposal: header, salt, signature, length. */
const REVEAL_BYTES = 256;
const VERSION = 1;
const HEADER_BYTES = 95;
/** Header bytes after version and kind that all messages of one configuration share: chain id, coordinator, configuration digest. */
const CONFIGURATION_BYTES = 60;
const SIGNATURE_BYTES = 65;
/** Length prefix of each message in a body. */
const LENGTH_BYTES = 4;
const KINDS = ["commit", "reveal", "proposal", "endorsement", "evidence"] as const;
/** Kinds that evidence may consist of: evidence of evidence proves nothing. */
const PROVING = KINDS.slice(0, 4);
/** Kind of a message with a VRF proof, which no node signs: a proof shows by itself that it is right. */
const PROOF_KIND = 6;
/** Stands for the index of a sender that is no node. */
const NO_NODE = 255;
const MESSAGE_TAG = keccak256(new TextEncoder().encode("tyche oracle message"));
const COMMITMENT_TAG = keccak256(new TextEncoder().encode("tyche oracle commitment"));

/** The configuration that messages belong to. */
export interface WireOptions {
  readonly chainId: number;
  readonly coordinator: Hex;
  /** `latestConfigDetails().configDigest` of the coordinator. */
  readonly configDigest: Hex;
  /** Report keys of all nodes, in the configuration's order. */
  readonly signers: readonly Hex[];
}

/** A message that was read. */
export interface Received {
  readonly requestId: Hex;
  readonly sealed: Sealed;
}

/** Looks up a previously checked message by its bytes. */
export type Recall = (bytes: Uint8Array) => Received | undefined;

/** Encodes, signs, decodes and checks the messages of one configuration, as laid out in PROTOCOL.md. */
export interface Wire {
  seal<Of extends Message>(requestId: Hex, message: Of, signer: ReportSigner): Sealed<Of>;
  /**
   * Reads a message and checks the signatures in it, the outermost first.
   *
   * @param recall looks up messages that were checked before; nested messages it finds are not checked again. Default: finds nothing.
   * @throws MalformedMessageError for anything that is not a message of this configuration.
   */
  open(bytes: Uint8Array, recall?: Recall): Received;
  commitmentOf(requestId: Hex, reveal: Reveal): Hex;
  /** Encodes the message with the proof of a VRF request. */
  encodeProofMessage(requestId: Hex, proof: Proof): Uint8Array;
  /**
   * Reads a message with a proof. Whether the proof is right is not checked.
   *
   * @throws MalformedMessageError for anything that is not such a message of this configuration.
   */
  readProofMessage(bytes: Uint8Array): { readonly requestId: Hex; readonly proof: Proof };
}

/** Returns the longest observation of a configuration, in bytes: evidence of two proposals, each of 2f + 1 reveals, must fit one message. */
export function maxObservationBytes(nodes: number): number {
  const reveals = 2 * faultyNodesOf(nodes) + 1;
  return Math.min(MAX_OBSERVATION_BYTES, Math.floor(MAX_MESSAGE_BYTES / 2 / (reveals + 1)) - REVEAL_BYTES);
}

/** What is known of a message before its body is read. */
interface Place {
  readonly kind: Message["kind"];
  readonly sender: number;
  readonly requestId: Hex;
  readonly recall: Recall;
}

/** Creates the wire format of a configuration. */
export function createWire({ chainId, coordinator, configDigest, signers }: WireOptions): Wire {
  const configuration = Buffer.concat([
    uintBytes(chainId, 8),
    fromHexText(coordinator),
    fromHexText(configDigest),
  ]);
  const addresses = signers.map((address) => address.toLowerCase());
  const longestObservation = maxObservationBytes(signers.length);

  /** Reads the header up to the request id. */
  function openHeader(bytes: Uint8Array) {
    if (bytes.length > MAX_MESSAGE_BYTES) throw new MalformedMessageError("it is too long");
    const reader = new ByteReader(bytes);
    const version = reader.uint(1);
    const kind = reader.uint(1);
    if (version !== VERSION) throw new MalformedMessageError("its version or kind is unknown");
    if (Buffer.compare(reader.bytes(CONFIGURATION_BYTES), configuration) !== 0)
      throw new MalformedMessageError("it is for another chain, coordinator or configuration");
    return { reader, kind, requestId: toHexText(reader.bytes(32)) };
  }

  function open(bytes: Uint8Array, recall: Recall = () => undefined): Received {
    const { reader, kind: number, requestId } = openHeader(bytes);
    const kind = KINDS[number - 1];
    if (kind === undefined) throw new MalformedMessageError("its version or kind is unknown");
    const sender = reader.uint(1);
    if (sender >= addresses.length) throw new MalformedMessageError("its sender is unknown");
    const body = new ByteReader(reader.bytes(bytes.length - HEADER_BYTES - SIGNATURE_BYTES));
    const digest = digestOf(bytes.subarray(0, bytes.length - SIGNATURE_BYTES));
    if (recoverAddress(digest, reader.bytes(SIGNATURE_BYTES)) !== addresses[sender])
      throw new MalformedMessageError("its signature is not its sender's");
    const message = readBody(body, { kind, sender, requestId, recall });
    body.end();
    return { requestId, sealed: { message, bytes } };
  }

  /** Checks the kind first: messages nested deeper than allowed would take hundreds of signature checks. */
  function openNested(
    bytes: Uint8Array,
    {
      requestId,
      kinds,
      recall,
    }: Pick<Place, "requestId" | "recall"> & { readonly kinds: readonly Message["kind"][] },
  ): Sealed {
    if (!kinds.some((kind) => bytes[1] === 1 + KINDS.indexOf(kind)))
      throw new MalformedMessageError("it holds a message of a kind that has no place there");
    const received = recall(bytes) ?? open(bytes, recall);
    if (received.requestId !== requestId)
      throw new MalformedMessageError("it holds a message of another request");
    return received.sealed;
  }

  function readBody(body: ByteReader, { kind, sender, requestId, recall }: Place): Message {
    switch (kind) {
      case "commit":
        return { kind, sender, commitment: toHexText(body.bytes(32)) };
      case "reveal":
        return {
          kind,
          sender,
          salt: toHexText(body.bytes(32)),
          observation: { ok: body.flag(), bytes: body.rest(longestObservation) },
        };
      case "endorsement":
        return readEndorsement(sender, body);
      case "proposal": {
        const rank = body.uint(1);
        const reveals: Sealed<Reveal>[] = [];
        while (!body.isAtEnd && reveals.length < addresses.length) {
          const nested = body.bytes(body.uint(2));
          reveals.push(openNested(nested, { requestId, kinds: ["reveal"], recall }) as Sealed<Reveal>);
        }
        return { kind, sender, rank, reveals };
      }
      case "evidence": {
        const first = openNested(body.bytes(body.uint(3)), { requestId, kinds: PROVING, recall });
        const second = openNested(body.rest(MAX_MESSAGE_BYTES), { requestId, kinds: PROVING, recall });
        return { kind, sender, first, second };
      }
    }
  }

  function readEndorsement(sender: number, body: ByteReader): Endorsement {
    const rank = body.uint(1);
    const digest = body.bytes(32);
    const signature = body.bytes(SIGNATURE_BYTES);
    if (recoverAddress(digest, signature) !== addresses[sender])
      throw new MalformedMessageError("the report in it is signed by somebody else");
    return { kind: "endorsement", sender, rank, digest: toHexText(digest), signature: toHexText(signature) };
  }

  return {
    open,
    seal(requestId, message, signer) {
      const kind = 1 + KINDS.indexOf(message.kind);
      const signed = Buffer.concat([
        Uint8Array.of(VERSION, kind),
        configuration,
        fromHexText(requestId),
        Uint8Array.of(message.sender),
        bodyOf(message),
      ]);
      return { message, bytes: Buffer.concat([signed, joinSignature(signer.sign(digestOf(signed)))]) };
    },
    encodeProofMessage(requestId, proof) {
      const header = Uint8Array.of(VERSION, PROOF_KIND);
      const parts = [
        header,
        configuration,
        fromHexText(requestId),
        Uint8Array.of(NO_NODE),
        encodeProof(proof),
      ];
      return Buffer.concat(parts);
    },
    readProofMessage(bytes) {
      const { reader, kind, requestId } = openHeader(bytes);
      if (kind !== PROOF_KIND || reader.uint(1) !== NO_NODE)
        throw new MalformedMessageError("it is no proof");
      const encoded = reader.bytes(PROOF_BYTES);
      reader.end();
      try {
        return { requestId, proof: decodeProof(encoded) };
      } catch (error) {
        if (!(error instanceof MalformedProofError)) throw error;
        throw new MalformedMessageError(error.message);
      }
    },
    commitmentOf(requestId, { sender, salt, observation: { ok, bytes } }) {
      const parts = [
        COMMITMENT_TAG,
        configuration.subarray(8, 28),
        fromHexText(requestId),
        Uint8Array.of(sender),
        fromHexText(salt),
        Uint8Array.of(Number(ok)),
        bytes,
      ];
      return toHexText(keccak256(Buffer.concat(parts)));
    },
  };
}

/** Joins a recoverable signature into 65 bytes: r ‖ s ‖ recovery id. */
export function joinSignature({ r, s, recoveryId }: ReturnType<ReportSigner["sign"]>): Uint8Array {
  return Buffer.concat([r, s, Uint8Array.of(recoveryId)]);
}

/**
 * Reads which configuration the first message of a body is for, without reading anything else; `undefined` if it is too short. Never
 * throws.
 */
export function peekAddressee(
  body: Uint8Array,
): { readonly chainId: bigint; readonly coordinator: Hex; readonly configDigest: Hex } | undefined {
  if (body.length < LENGTH_BYTES + HEADER_BYTES) return undefined;
  const reader = new ByteReader(body.subarray(LENGTH_BYTES + 2));
  return {
    chainId: BigInt(toHexText(reader.bytes(8))),
    coordinator: toHexText(reader.bytes(20)),
    configDigest: toHexText(reader.bytes(32)),
  };
}

/** Whether a message holds a proof, by its kind alone. Never throws. */
export function isProofMessage(message: Uint8Array): boolean {
  return message[1] === PROOF_KIND;
}

/** Reads which request a message is about, without reading anything else; `undefined` if it is too short. Never throws. */
export function peekRequestId(message: Uint8Array): Hex | undefined {
  return message.length < HEADER_BYTES
    ? undefined
    : toHexText(message.subarray(HEADER_BYTES - 33, HEADER_BYTES - 1));
}

/** Reads which node a message claims to be from, without reading anything else; `undefined` if it is too short. Never throws. */
export function peekSender(message: Uint8Array): number | undefined {
  return message.length < HEADER_BYTES ? undefined : message[HEADER_BYTES - 1];
}

function digestOf(signed: Uint8Array): Uint8Array {
  return keccak256(Buffer.concat([MESSAGE_TAG, signed]));
}

function bodyOf(message: Message): Uint8Array {
  switch (message.kind) {
    case "commit":
      return fromHexText(message.commitment);
    case "reveal":
      return Buffer.concat([
        fromHexText(message.salt),
        Uint8Array.of(Number(message.observation.ok)),
        message.observation.bytes,
      ]);
    case "endorsement":
      return Buffer.concat([
        Uint8Array.of(message.rank),
        fromHexText(message.digest),
        fromHexText(message.signature),
      ]);
    case "proposal":
      return proposalBody(message);
    case "evidence":
      return evidenceBody(message);
  }
}

function proposalBody({ rank, reveals }: Proposal): Uint8Array {
  return Buffer.concat([
    Uint8Array.of(rank),
    ...reveals.flatMap(({ bytes }) => [uintBytes(bytes.length, 2), bytes]),
  ]);
}

function evidenceBody({ first, second }: Evidence): Uint8Array {
  return Buffer.concat([uintBytes(first.bytes.length, 3), first.bytes, second.bytes]);
}
