import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type {
	Account,
	Assets,
	AuditState,
	KeyRow,
	KeyWithUsage,
	MarginReport,
	Models,
	MoneyEntry,
	Networks,
	Overview,
	Page,
	Reconciliation,
	RefusalRow,
	RequestDetail,
	SendRow,
	Settings,
	TopUpRow,
	Upstreams,
	UsageReport,
	WalletRow,
} from "../../../src/routes/console/types.ts";
import { call, queryOf } from "./call.ts";

/** The refetch interval of live data. */
const LIVE_MS = 10_000;
/** The refetch interval of running work. */
const WORK_MS = 1_000;
const PAGE_ROWS = 100;

type Filter = Readonly<Record<string, string | undefined>>;

/** All queries of the console: one entry per route of docs/console-api.md. */
export const queries = {
	overview: (days: number) => read<Overview>(["overview", days], `/overview?days=${days}`, LIVE_MS),
	models: () => read<Models>(["models"], "/models", LIVE_MS),
	upstreams: () => read<Upstreams>(["upstreams"], "/upstreams", LIVE_MS),
	accounts: (filter: Filter) => list<Account>(["accounts"], "/accounts", filter),
	account: (id: string) => read<{ data: Account }>(["account", id], `/accounts/${encodeURIComponent(id)}`),
	accountKeys: (id: string) =>
		read<{ data: readonly KeyWithUsage[] }>(["account", id, "keys"], `/accounts/${encodeURIComponent(id)}/keys`),
	money: (id: string, kind: "credits" | "debits" | "refunds") =>
		list<MoneyEntry>(["account", id], `/accounts/${encodeURIComponent(id)}/${kind}`, {}),
	keys: (filter: Filter) => list<KeyRow>(["keys"], "/keys", filter),
	usage: (filter: Filter) => read<UsageReport>(["usage", filter], `/usage${queryOf(filter)}`),
	margin: (filter: Filter) => read<MarginReport>(["margin", filter], `/margin${queryOf(filter)}`),
	networks: () => read<Networks>(["networks"], "/networks", LIVE_MS),
	request: (id: string) => read<{ data: RequestDetail }>(["request", id], `/requests/${encodeURIComponent(id)}`),
	sends: (filter: Filter) => list<SendRow>(["sends"], "/sends", filter),
	refusals: (filter: Filter) => list<RefusalRow>(["refusals"], "/refusals", filter),
	wallets: (filter: Filter) => list<WalletRow>(["wallets"], "/wallets", filter),
	topUps: (filter: Filter) => list<TopUpRow>(["top-ups"], "/top-ups", filter),
	reconciliation: () => task<Reconciliation>(["reconcile"], "/reconcile"),
	books: () => task<AuditState>(["books"], "/books"),
	assets: () =>
		queryOptions({
			queryKey: ["assets"],
			queryFn: ({ signal }) => call<Assets>("/assets", { signal }),
			refetchInterval: (query) => (query.state.data?.assets.some(({ state }) => state === "fetching") ? WORK_MS : LIVE_MS),
		}),
	settings: () => read<Settings>(["settings"], "/settings"),
};

function read<T>(queryKey: readonly unknown[], path: string, refetchInterval?: number) {
	return queryOptions({
		queryKey,
		queryFn: ({ signal }) => call<T>(path, { signal }),
		...(refetchInterval === undefined ? {} : { refetchInterval }),
	});
}

/** Returns the query of a task's state, refetched each second while it runs. */
function task<T extends { readonly state: string }>(queryKey: readonly unknown[], path: string) {
	return queryOptions({
		queryKey,
		queryFn: ({ signal }) => call<T>(path, { signal }),
		refetchInterval: (query: { readonly state: { readonly data: T | undefined } }) =>
			query.state.data?.state === "running" ? WORK_MS : LIVE_MS,
	});
}

function list<T>(queryKey: readonly unknown[], path: string, filter: Filter) {
	return infiniteQueryOptions({
		queryKey: [...queryKey, path, filter],
		queryFn: ({ signal, pageParam }) =>
			call<Page<T>>(path + queryOf({ ...filter, limit: PAGE_ROWS, cursor: pageParam }), { signal }),
		initialPageParam: undefined as string | undefined,
		getNextPageParam: (page) => page.nextCursor ?? undefined,
	});
}
