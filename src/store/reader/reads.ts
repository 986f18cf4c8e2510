/**
 * Reads for the operator, beside the work of the server: lists, searches, sums and the audit. Each is a function in a
 * file of its own, with one argument that can be sent between threads, and changes nothing.
 */
import { audit } from "../../ledger/audit.ts";
import { listAccountPage } from "../admin/account-view.ts";
import type { AdminStore } from "../admin/open-admin.ts";
import { listWallets } from "../admin/top-ups/wallet-views.ts";
import { alertReadings } from "../queries/alert-readings.ts";
import { listKeyPage } from "../queries/key-page.ts";
import { namedRequest } from "../queries/named-request.ts";
import { listRefusalPage } from "../queries/refusal-page.ts";
import { requestDays } from "../queries/request-days.ts";
import { listSendPage } from "../queries/sends.ts";
import { listTopUpPage } from "../queries/top-up-page.ts";
import { usageRows } from "../queries/usage-rows.ts";

export const READS = {
	accounts: listAccountPage,
	audit: (admin: AdminStore, _input: null) => audit(admin.db),
	keys: listKeyPage,
	refusals: listRefusalPage,
	request: namedRequest,
	requestDays,
	sends: listSendPage,
	standings: alertReadings,
	topUps: listTopUpPage,
	usageRows,
	wallets: listWallets,
} as const satisfies Record<string, (admin: AdminStore, input: never) => Promise<unknown>>;

type Reads = typeof READS;
export type ReadName = keyof Reads;
export type ReadInput<Name extends ReadName> = Parameters<Reads[Name]>[1];
export type ReadAnswer<Name extends ReadName> = Awaited<ReturnType<Reads[Name]>>;

/** Runs a read by its name. */
export function runRead<Name extends ReadName>(admin: AdminStore, name: Name, input: ReadInput<Name>): Promise<ReadAnswer<Name>> {
	const read = READS[name] as unknown as (admin: AdminStore, input: ReadInput<Name>) => Promise<ReadAnswer<Name>>;
	return read(admin, input);
}
