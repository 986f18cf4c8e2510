import type { Session } from "../../../src/routes/console/types.ts";
import { call } from "./call.ts";
import { Refused } from "./refused.ts";
import { session } from "./session.ts";

/** Fetches the session; null if nobody is signed in. Throws `Unreachable` if no answer comes. */
export async function askSession(): Promise<Session | null> {
	try {
		const now = await call<Session>("/session");
		session.began(now);
		return now;
	} catch (fault) {
		if (!(fault instanceof Refused) || fault.status !== 401) throw fault;
		return null;
	}
}

/** Signs in with an ADMIN key of the operator's account; throws `Refused` with the reason if the key is invalid. */
export async function signIn(key: string): Promise<void> {
	session.began(await call<Session>("/session", { method: "POST", body: { key } }));
}

/** Ends the session on all nodes. */
export async function signOut(): Promise<void> {
	await call("/session", { method: "DELETE" });
	session.ended();
}
