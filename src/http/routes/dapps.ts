import type { Static } from "typebox";
import { listOf } from "../../api/common.ts";
import { DappView, NetworkConfigView, NewDapp, SubscriptionBalances } from "../../api/operator.ts";
import { DappDeletion } from "../../api/results.ts";
import { formatNetworkEnv } from "../../dapps/configEnv.ts";
import type { DappDirectory } from "../../dapps/dapps.ts";
import type { NetworkConfigVars } from "../../dapps/configVars.ts";
import { formatSampleConsumer } from "../../dapps/sampleConsumer.ts";
import { ForbiddenError } from "../../lib/errors.ts";
import { formatTime } from "../../lib/time.ts";
import { getCaller, type HttpDeps } from "../context.ts";
import { createOperations, type Operation } from "../operation.ts";
import type { OperatorPart } from "../operatorPart.ts";
import { viewNewKey } from "./keys.ts";

/** The dapps, and what building on one requires: config vars, balances, consumers. */
export function dappOperations(deps: HttpDeps, part: OperatorPart): readonly Operation[] {
  const { service } = deps;
  const { dapps } = part;
  const operation = createOperations(deps, { tag: "Operator", access: "operator" });

  return [
    operation({
      id: "listDapps",
      path: "/api/dapps",
      summary: "List dapps",
      description: "All dapps of the service, oldest first; for a person, those that they are a member of.",
      answer: listOf(DappView),
      async run({ ctx }) {
        const { isOperator, person } = getCaller(ctx);
        const items = (await dapps.list()).filter(({ id }) => isOperator || person?.roles.has(id));
        return { items: items.map(viewDapp) };
      },
    }),
    operation({
      id: "createDapp",
      method: "post",
      path: "/api/dapps",
      summary: "Create a dapp",
      description:
        "Creates a dapp and its first API key; the answer contains the key. With an `Idempotency-Key`, a repeated call gets the same dapp and key.",
      request: "createDapp",
      example: { name: "My game" },
      answer: NewDapp,
      takesIdempotencyKey: true,
      errors: ["not_found", "idempotency_conflict", "name_taken"],
      async run({ values: { name, facilities }, idempotencyKey }) {
        const made = await dapps.create(name, facilities, { idempotencyKey });
        return { ...viewDapp(made.dapp), key: viewNewKey(made.key) };
      },
    }),
    operation({
      id: "getDapp",
      path: "/api/dapps/:dappId",
      summary: "Read a dapp",
      description: "Name and permissions of a dapp.",
      answer: DappView,
      run: async ({ dapp }) => viewDapp(await dapps.get(dapp.id)),
    }),
    operation({
      id: "updateDapp",
      method: "patch",
      path: "/api/dapps/:dappId",
      summary: "Change a dapp",
      description:
        "Renames a dapp, sets what its presets wait for or, as the operator, what it may use; everything else stays the same.",
      request: "updateDapp",
      example: { name: "My other game" },
      answer: DappView,
      errors: ["not_found", "name_taken"],
      async run({ ctx, dapp: { id }, values }) {
        if (values.facilities !== undefined && !getCaller(ctx).isOperator)
          throw new ForbiddenError("only the operator may change what a dapp may use");
        ctx.state.before = viewDapp(await dapps.get(id));
        return viewDapp(await dapps.change(id, values));
      },
    }),
    operation({
      id: "getConfigVars",
      path: "/api/dapps/:dappId/configVars",
      summary: "Read config vars",
      description: "The values to deploy a consumer contract of the dapp with, by network.",
      answer: listOf(NetworkConfigView),
      async run({ dapp }) {
        const { dappId, networks } = await part.readConfigVars(dapp.id);
        return { items: networks.map((vars) => viewConfig(dappId, vars)) };
      },
    }),
    operation({
      id: "getBalances",
      path: "/api/dapps/:dappId/balances",
      summary: "Read balances",
      description:
        "The balances of the dapp's subscriptions. A network is absent while it can't be reached, or while its subscriptions don't exist yet.",
      answer: listOf(SubscriptionBalances),
      run: async ({ dapp }) => ({
        items: [...(await part.readBalances(dapp.id))].map(([network, held]) => ({
          network,
          ...held,
        })),
      }),
    }),
    operation({
      id: "deleteDapp",
      method: "delete",
      path: "/api/dapps/:dappId",
      access: "dapp",
      tag: "Dapps",
      summary: "Delete a dapp",
      description:
        "Deletes the key's dapp permanently. All of its keys stop working at once, including this call's, and its consumer contracts are " +
        "unlinked. Requests in progress still complete. Shared results and the operator's usage totals remain. " +
        "A dapp other than the key's gets 404.",
      answer: DappDeletion,
      run: ({ dapp, param }) => service.deleteDapp(dapp, param("dappId")),
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

type StoredDapp = Awaited<ReturnType<DappDirectory["get"]>>;

/** A dapp as the API shows it. */
export function viewDapp({ id, name, facilities, createdAt, beacon }: StoredDapp): Static<typeof DappView> {
  return {
    id,
    name,
    facilities: facilities as Static<typeof DappView>["facilities"],
    createdAt: formatTime(createdAt),
    ...(beacon === undefined ? {} : { beacon }),
  };
}
