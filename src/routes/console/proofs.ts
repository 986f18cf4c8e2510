import { amountText } from "../../budgets/index.ts";
import type { ConsoleApiDeps } from "./deps.ts";
import { BackgroundTask } from "./task.ts";
import type { AuditState, Reconciliation } from "./types.ts";

/** Nano-USD of a token's base unit. */
const NANO_PER_UNIT = 1_000;

type ReportOf<State extends { readonly report: unknown }> = NonNullable<State["report"]>;

/** Creates the background task that audits the store as `turnpike audit` does. */
export function auditTask(deps: ConsoleApiDeps): BackgroundTask<ReportOf<AuditState>> {
	const work = async (): Promise<ReportOf<AuditState>> => {
		const { ok, counted, truncated, findings } = await deps.reader.audit();
		const { accounts, posts, movements } = counted;
		return { ok, accounts, posts, movements, truncated, findings };
	};
	return new BackgroundTask("audit", work, deps);
}

/** Compares top-ups with their chains, as `turnpike x402 reconcile` does; null if there are no top-ups. */
export function reconcileTask(deps: ConsoleApiDeps): BackgroundTask<ReportOf<Reconciliation>> | null {
	const { reconcile } = deps;
	if (reconcile === null) return null;
	const work = async (): Promise<ReportOf<Reconciliation>> => {
		const { checked, credited, discrepancies } = await reconcile();
		const amounts = Object.entries(credited).map(([network, units]) => [network, amountText(units * NANO_PER_UNIT)]);
		return { checked, creditedUsd: Object.fromEntries(amounts), discrepancies };
	};
	return new BackgroundTask("reconcile", work, deps);
}
