/** Gives one node at a time the turn to take a key's next nonce and send with it; a dead node loses its turn. */
import type { AdminStore } from "../open-admin.ts";

export interface BroadcastTurn {
	/** Chain and address of the key. */
	readonly name: string;
	/** Id of this one send. */
	readonly holder: string;
}

/** Returns false where another send has the turn. */
export function takeBroadcastTurn(admin: AdminStore, input: BroadcastTurn & { readonly termMs: number }): Promise<boolean> {
	const { name, holder, termMs } = input;
	return admin.db.transaction().execute(async (tx) => {
		const atMs = admin.wallMs();
		const row = await tx.selectFrom("broadcast_turns").selectAll().where("name", "=", name).executeTakeFirst();
		if (row !== undefined && row.holder !== holder && Number(row.holder_until) > atMs) return false;
		const mine = { holder, holder_until: atMs + termMs };
		await tx
			.insertInto("broadcast_turns")
			.values({ name, ...mine })
			.onConflict((conflict) => conflict.column("name").doUpdateSet(mine))
			.execute();
		return true;
	});
}

/** Ends the turn, so that the next send can take it. */
export async function endBroadcastTurn(admin: AdminStore, { name, holder }: BroadcastTurn): Promise<void> {
	await admin.db
		.transaction()
		.execute((tx) =>
			tx.updateTable("broadcast_turns").set({ holder_until: 0 }).where("name", "=", name).where("holder", "=", holder).execute(),
		);
}
