import { Type, type TSchema } from "typebox";
import { formatNetworkEnv } from "../../dapps/configEnv.ts";
import type { NetworkConfigVars } from "../../dapps/configVars.ts";
import type { LiveKeyView } from "../../dapps/dapps.ts";
import { formatSampleConsumer } from "../../dapps/sampleConsumer.ts";
import { version } from "../../lib/version.ts";
import { MAX_COUNTED } from "../../requests/activity.ts";
import { NotFoundError } from "../../requests/errors.ts";
import { Readiness } from "../../requests/views.ts";
import { getDapp, type HttpContext, type HttpDeps } from "../context.ts";
import { sendJson } from "../frame.ts";
import type { Operation } from "../operation.ts";
import type { OperatorPart } from "../operatorPart.ts";
import { readParameters, readQuery } from "../parameters.ts";
import { parseRequest } from "../parseRequest.ts";
import { listConsumers } from "./consumerList.ts";
import {
  ActivityView,
  BalancesView,
  ConsumersView,
  DappView,
  fundedAccounts,
  FundedAccountView,
  KeyView,
  NetworkConfigView,
  NewKeyView,
  PresetProblemView,
  viewDapp,
  viewKey,
} from "./operatorViews.ts";

type Reading = Pick<Operation, "id" | "path" | "summary" | "description" | "access"> & {
  readonly tag?: Operation["tag"];
  readonly answer: TSchema;
  /** Gives `data`. */
  readonly read: (ctx: HttpContext) => Promise<object> | object;
};

/** What the application is made of: dapps, their keys and what is needed to build on them, and how the service stands. */
export function operatorOperations(deps: HttpDeps, part: OperatorPart): readonly Operation[] {
  const { service } = deps;
  const { dapps } = part;
  const reading = ({ read, ...rest }: Reading): Operation => ({
    method: "get",
    tag: "Operator",
    request: "none",
    placement: "query",
    isAsync: false,
    errors: rest.path.includes(":") ? ["not_found"] : [],
    ...rest,
    async handle(ctx) {
      parseRequest(readQuery(ctx), deps.schemas().validate.none);
      sendJson(ctx, 200, { data: await read(ctx) });
    },
  });
  const listOf = (item: TSchema): TSchema => Type.Object({ items: Type.Array(item) });
  /** A live key of the path's dapp. */
  const getKey = async (ctx: HttpContext): Promise<LiveKeyView> => {
    const keyId = paramOf(ctx, "keyId");
    const key = (await dapps.keys(getDapp(ctx).id)).find(({ id }) => id === keyId);
    if (key === undefined || key.apiKey === null) throw new NotFoundError(`live key ${keyId}`);
    return { ...key, apiKey: key.apiKey };
  };

  return [
    reading({
      id: "listDapps",
      path: "/api/dapps",
      access: "operator",
      summary: "List dapps",
      description: "All dapps of the service, oldest first.",
      answer: listOf(DappView),
      read: async () => ({ items: (await dapps.list()).map(viewDapp) }),
    }),
    {
      id: "createDapp",
      method: "post",
      path: "/api/dapps",
      access: "operator",
      tag: "Operator",
      summary: "Create a dapp",
      description: "Creates a dapp and its first API key, which is in the answer.",
      request: "createDapp",
      placement: "body",
      example: { name: "My game" },
      answer: Type.Object({ ...DappView.properties, key: NewKeyView }),
      isAsync: false,
      errors: [],
      async handle(ctx) {
        const given = await readParameters(ctx, deps.limits);
        const { name, facilities } = parseRequest(given, deps.schemas().validate.createDapp);
        const made = await dapps.create(name, facilities);
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
      id: "renameDapp",
      method: "patch",
      path: "/api/dapps/:dappId",
      access: "operator",
      tag: "Operator",
      summary: "Rename a dapp",
      description: "Changes the name of a dapp; everything else stays.",
      request: "renameDapp",
      placement: "body",
      example: { name: "My other game" },
      answer: DappView,
      isAsync: false,
      errors: ["not_found"],
      async handle(ctx) {
        const given = await readParameters(ctx, deps.limits);
        const { name } = parseRequest(given, deps.schemas().validate.renameDapp);
        const { id } = getDapp(ctx);
        await dapps.rename(id, name);
        sendJson(ctx, 200, { data: viewDapp(await dapps.get(id)) });
      },
    },
    reading({
      id: "listKeys",
      path: "/api/dapps/:dappId/keys",
      access: "operator",
      summary: "List API keys",
      description: "The keys of a dapp, revoked ones included, oldest first; none of them whole.",
      answer: listOf(KeyView),
      read: async (ctx) => ({ items: (await dapps.keys(getDapp(ctx).id)).map(viewKey) }),
    }),
    {
      id: "addKey",
      method: "post",
      path: "/api/dapps/:dappId/keys",
      access: "operator",
      tag: "Operator",
      summary: "Add an API key",
      description: "Makes another key of a dapp, which is in the answer.",
      request: "addKey",
      placement: "body",
      example: { name: "production" },
      answer: NewKeyView,
      isAsync: false,
      errors: ["not_found"],
      async handle(ctx) {
        const given = await readParameters(ctx, deps.limits);
        const { name } = parseRequest(given, deps.schemas().validate.addKey);
        sendJson(ctx, 200, { data: viewNewKey(await dapps.addKey(getDapp(ctx).id, name)) });
      },
    },
    reading({
      id: "revealKey",
      path: "/api/dapps/:dappId/keys/:keyId",
      access: "operator",
      summary: "Read an API key",
      description: "A live key itself. A revoked one is erased, and 404.",
      answer: NewKeyView,
      read: async (ctx) => viewNewKey(await getKey(ctx)),
    }),
    {
      ...reading({
        id: "revokeKey",
        path: "/api/dapps/:dappId/keys/:keyId",
        access: "operator",
        summary: "Revoke an API key",
        description: "Calls with the key are refused at once, on every replica, and it is erased.",
        answer: KeyView,
        async read(ctx) {
          const { id } = await getKey(ctx);
          await dapps.revokeKey(id);
          return viewKey((await dapps.keys(getDapp(ctx).id)).find((key) => key.id === id)!);
        },
      }),
      method: "delete",
    },
    reading({
      id: "getConfigVars",
      path: "/api/dapps/:dappId/configVars",
      access: "operator",
      summary: "Read config vars",
      description: "What a consumer contract of the dapp is deployed with, by network.",
      answer: listOf(NetworkConfigView),
      read: async (ctx) => ({
        items: (await part.readConfigVars(getDapp(ctx).id)).networks.map(viewConfig),
      }),
    }),
    reading({
      id: "getBalances",
      path: "/api/dapps/:dappId/balances",
      access: "operator",
      summary: "Read balances",
      description:
        "What the dapp's subscriptions hold. A network is absent while it can't be asked, or the subscriptions are not made yet.",
      answer: listOf(BalancesView),
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
      description:
        "The contracts that are linked to the dapp's subscriptions, as the chains have them, and what they wait for.",
      answer: ConsumersView,
      read: (ctx) => listConsumers(getDapp(ctx), { service, part }),
    }),
    reading({
      id: "getActivity",
      path: "/api/activity",
      access: "operator",
      summary: "Count requests",
      description: "What all dapps asked for in each of the last 24 hours.",
      answer: ActivityView,
      read: async () => ({
        hours: (await service.activity()).map(({ from, requests, failed }) => ({
          from: new Date(from).toISOString(),
          requests,
          failed,
        })),
        maxCounted: MAX_COUNTED,
      }),
    }),
    reading({
      id: "getReadiness",
      path: "/api/readiness",
      access: "operator",
      summary: "Read how the service stands",
      description: "What `/readyz` answers, with status 200 also where the service is not ready.",
      answer: Readiness,
      read: () => service.readiness(),
    }),
    reading({
      id: "listPresetProblems",
      path: "/api/presetProblems",
      access: "operator",
      summary: "List broken presets",
      description: "What keeps presets from being served, each with its place.",
      answer: listOf(PresetProblemView),
      read: () => ({ items: service.presetProblems() }),
    }),
    reading({
      id: "listFundedAccounts",
      path: "/api/faucet/accounts",
      access: "anybody",
      tag: "Catalogue",
      summary: "List funded accounts",
      description:
        "Accounts that hold coin on every embedded chain from its first block on. Everybody knows their keys.",
      answer: listOf(FundedAccountView),
      read: () => ({ items: fundedAccounts }),
    }),
    reading({
      id: "getInfo",
      path: "/api/info",
      access: "anybody",
      tag: "Catalogue",
      summary: "Read the version",
      description: "Version of the service.",
      answer: Type.Object({ version: Type.String() }),
      read: () => ({ version }),
    }),
  ];
}

function viewNewKey(key: LiveKeyView) {
  return { ...viewKey(key), apiKey: key.apiKey };
}

function viewConfig(vars: NetworkConfigVars) {
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
    ...(hasAll ? { sampleContract: formatSampleConsumer(vars) } : {}),
  };
}

function paramOf(ctx: HttpContext, name: string): string {
  return (ctx["params"] as Readonly<Record<string, string>>)[name] ?? "";
}
