import { listOf } from "../../api/common.ts";
import { ScheduleView, TriggerRun, TriggerRunPage } from "../../api/schedules.ts";
import type { Schedules } from "../../triggers/schedules.ts";
import type { HttpDeps } from "../context.ts";
import { createOperations, type Operation } from "../operation.ts";

const ALL = "/api/schedules";
const ONE = "/api/schedules/:scheduleId";

/** The schedules of the key's dapp. */
export function scheduleOperations(deps: HttpDeps, schedules: Schedules): readonly Operation[] {
  const operation = createOperations(deps, { tag: "Triggers" });
  return [
    operation({
      id: "createSchedule",
      method: "post",
      path: ALL,
      summary: "Create a schedule",
      description:
        "Makes a request `every` so often, or when a `cron` expression says so. Each tick is recorded once: as a request, or as " +
        "skipped with a reason. Requests count against the limits of the dapp and of the key that makes this call. A dapp has at most " +
        "100 schedules; ticks are at least 10 s apart on an embedded network, a block and 30 s elsewhere.",
      request: "createSchedule",
      example: { name: "Hourly coin", every: "1h", action: { preset: "coinflip" } },
      answer: ScheduleView,
      run: ({ dapp, values }) => schedules.create(dapp, values),
    }),
    operation({
      id: "listSchedules",
      path: ALL,
      summary: "List schedules",
      description: "The schedules of the key's dapp, oldest first.",
      answer: listOf(ScheduleView),
      run: async ({ dapp: { id } }) => ({ items: await schedules.list(id) }),
    }),
    operation({
      id: "getSchedule",
      path: ONE,
      summary: "Read a schedule",
      description: "A schedule and its next ticks.",
      answer: ScheduleView,
      run: ({ dapp, param }) => schedules.get(dapp.id, param("scheduleId")),
    }),
    operation({
      id: "changeSchedule",
      method: "patch",
      path: ONE,
      summary: "Change, pause or resume a schedule",
      description:
        "Changes the members that are given. While a schedule is paused it has no ticks. From this call on, its requests count against " +
        "the key of this call.",
      request: "changeSchedule",
      example: { paused: true },
      answer: ScheduleView,
      async run({ ctx, dapp, param, values }) {
        const id = param("scheduleId");
        ctx.state.before = await schedules.get(dapp.id, id);
        return await schedules.change(dapp, id, values);
      },
      errors: ["not_found", "overloaded"],
    }),
    operation({
      id: "deleteSchedule",
      method: "delete",
      path: ONE,
      summary: "Delete a schedule",
      description: "Deletes a schedule with its list of runs. Their requests stay.",
      answer: ScheduleView,
      run: ({ dapp, param }) => schedules.delete(dapp.id, param("scheduleId")),
    }),
    operation({
      id: "runSchedule",
      method: "post",
      path: `${ONE}/run`,
      summary: "Run a schedule now",
      description: "Requests at once what a tick would, also while the schedule is paused.",
      answer: TriggerRun,
      run: ({ dapp, param }) => schedules.run(dapp, param("scheduleId")),
    }),
    operation({
      id: "listScheduleRuns",
      path: `${ONE}/runs`,
      summary: "List a schedule's runs",
      description:
        "Each tick of the last 30 days, newest first, page by page: with the request that it made, or why it made none.",
      request: "runs",
      answer: TriggerRunPage,
      run: ({ dapp, param, values }) => schedules.runs(dapp.id, param("scheduleId"), values),
    }),
  ];
}
