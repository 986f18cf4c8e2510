import { findRequest, type RequestRecord } from "../../ledger/requests.ts";
import type { AdminStore } from "../admin/open-admin.ts";

/** Returns the record of one request in the books, with its account's name; null where none is applied. */
export async function namedRequest(
	admin: AdminStore,
	{ requestId }: { readonly requestId: string },
): Promise<(RequestRecord & { readonly accountName: string }) | null> {
	const record = await findRequest(admin.db, requestId);
	if (record === null) return null;
	const account = await admin.db.selectFrom("accounts").select("name").where("id", "=", record.accountId).executeTakeFirst();
	return { ...record, accountName: account?.name ?? "" };
}
