import { listOf } from "../../api/common.ts";
import {
  ConsumerList,
  DappView,
  NetworkConfigView,
  NewDapp,
  SubscriptionBalances,
} from "../../api/operator.ts";
import { formatNetworkEnv } from "../../dapps/configEnv.ts";
import type { NetworkConfigVars } from "../../dapps/configVars.ts";
import { formatSampleConsumer } from "../../dapps/sampleConsumer.ts";
import { getCaller, getDapp, type HttpDeps } from "../context.ts";
import { sendJson } from "../frame.ts";
import type { Operation } from "../operation.ts";
import type { OperatorPart } from "../operatorPart.ts";
import { readParameters } from "../parameters.ts";
import { parseRequest } from "../parseRequest.ts";
import { readIdempotencyKey } from "../waitPreference.ts";
import { listConsumers } from "./consumerList.ts";
import { createReading } from "./operatorReading.ts";
import { viewDapp, viewNewKey } from "./operatorViews.ts";

/** The dapps, and what building on one requires: config vars, balances, consumers. */
export function operatorDappOperations(deps: HttpDeps, part: OperatorPart): readonly Operation[] {
  const { service } = deps;
  const { dapps } = part;
  const reading = createReading(deps);

  return [
    reading({
      id: "listDapps",
      path: "/api/dapps",
      access: "operator",
      summary: "List dapps",
      description: "All dapps of the service, oldest first; for a person, those that they are a member of.",
      answer: listOf(DappView),
      async read(ctx) {
        const { isOperator, person } = getCaller(ctx);
        const items = (await dapps.list()).filter(({ id }) => isOperator || person?.roles.has(id));
        return { items: items.map(viewDapp) };
      },
    }),
    {
      id: "createDapp",
      method: "post",
      path: "/api/dapps",
      access: "operator",
      tag: "Operator",
      summary: "Create a dapp",
      description:
        "Creates a dapp and its first API key; the answer contains the key. With an `Idempotency-Key`, a repeated call gets the same dapp and key.",
      request: "createDapp",
      placement: "body",
      example: { name: "My game" },
      answer: NewDapp,
      isAsync: false,
      takesIdempotencyKey: true,
      errors: ["not_found", "idempotency_conflict", "name_taken"],
      async handle(ctx) {
        const idempotencyKey = readIdempotencyKey(ctx);
        const given = await readParameters(ctx, deps.limits);
        const { name, facilities } = parseRequest(given, deps.schemas().validate.createDapp);
        const made = await dapps.create(name, facilities, { idempotencyKey });
        sendJson(ctx, 200, { data: { ...viewDapp(made.dapp), key: viewNewKey(made.key) } });
      },
    },
    reading({
      id: "getDapp",
      path: "/api/dapps/:dappId",
      access: "operator",
      summary: "Read a dapp",
      description: "Name and permissions of a dapp.",
      answer: DappView,
      read: async (ctx) => viewDapp(await dapps.get(getDapp(ctx).id)),
    }),
    {
      id: "updateDapp",
      method: "patch",
      path: "/api/dapps/:dappId",
      access: "operator",
      tag: "Operator",
      summary: "Change a dapp",
      description: "Renames a dapp, or sets what its presets wait for; everything else stays the same.",
      request: "updateDapp",
      placement: "body",
      example: { name: "My other game" },
      answer: DappView,
      isAsync: false,
      errors: ["not_found", "name_taken"],
      async handle(ctx) {
        const given = await readParameters(ctx, deps.limits);
        const { name, beacon } = parseRequest(given, deps.schemas().validate.updateDapp);
        const { id } = getDapp(ctx);
        ctx.state.before = viewDapp(await dapps.get(id));
        if (name !== undefined) await dapps.rename(id, name);
        if (beacon !== undefined) await dapps.setBeacon(id, beacon);
        sendJson(ctx, 200, { data: viewDapp(await dapps.get(id)) });
      },
    },
    reading({
      id: "getConfigVars",
      path: "/api/dapps/:dappId/configVars",
      access: "operator",
      summary: "Read config vars",
      description: "The values to deploy a consumer contract of the dapp with, by network.",
      answer: listOf(NetworkConfigView),
      async read(ctx) {
        const { dappId, networks } = await part.readConfigVars(getDapp(ctx).id);
        return { items: networks.map((vars) => viewConfig(dappId, vars)) };
      },
    }),
    reading({
      id: "getBalances",
      path: "/api/dapps/:dappId/balances",
      access: "operator",
      summary: "Read balances",
      description:
        "The balances of the dapp's subscriptions. A network is absent while it can't be reached, or while its subscriptions don't exist yet.",
      answer: listOf(SubscriptionBalances),
      read: async (ctx) => ({
        items: [...(await part.readBalances(getDapp(ctx).id))].map(([network, held]) => ({
          network,
          ...held,
        })),
      }),
    }),
    reading({
      id: "listConsumers",
      path: "/api/dapps/:dappId/consumers",
      access: "operator",
      summary: "List consumers",
      description: "The contracts that are linked to the dapp's subscriptions, as the chains have them.",
      answer: ConsumerList,
      read: (ctx) => listConsumers(getDapp(ctx), { service, part }),
    }),
  ];
}

function viewConfig(dappId: string, vars: NetworkConfigVars) {
  const { network, title, chainId, rpcUrl, vrfSubscriptionId, functionsSubscriptionId, keyHash, donId } =
    vars;
  const { vrfCoordinator, functionsRouter, link } = vars.contracts;
  const hasAll = vrfSubscriptionId !== undefined && vrfCoordinator !== undefined && keyHash !== undefined;
  return {
    network,
    title,
    chainId,
    ...(rpcUrl === undefined ? {} : { rpcUrl }),
    ...(vrfSubscriptionId === undefined ? {} : { vrfSubscriptionId }),
    ...(functionsSubscriptionId === undefined ? {} : { functionsSubscriptionId }),
    ...(keyHash === undefined ? {} : { keyHash }),
    donId,
    contracts: { vrfCoordinator, functionsRouter, link },
    env: formatNetworkEnv(vars),
    ...(hasAll ? { sampleContract: formatSampleConsumer(dappId, vars) } : {}),
  };
}
