import type { ActiveSession } from "../../access/index.ts";
import type { Caller } from "../../budgets/port.ts";
import { BUILD, VERSION } from "../../config/index.ts";
import { ApiError } from "../../errors/index.ts";
import type { Call } from "../../server/call.ts";
import type { Answer } from "../../server/endpoint.ts";
import type { ConsoleApiDeps } from "./deps.ts";
import { answer } from "./page.ts";
import type { Session } from "./types.ts";
import { instant } from "./when.ts";

/** POST /session */
export async function signIn({ key }: { readonly key: string }, call: Call, deps: ConsoleApiDeps): Promise<Answer> {
	const { session, caller } = await deps.sessions.signIn(key, () => call.address);
	return sessionAnswer(session, caller, deps);
}

/** GET /session */
export function whoAmI({ request, caller }: Call, deps: ConsoleApiDeps): Answer {
	if (caller === null) throw new ApiError("AUTHENTICATION_FAILED");
	return sessionAnswer(deps.live(request), caller, deps);
}

/** DELETE /session */
export async function signOut({ request }: Call, { sessions }: ConsoleApiDeps): Promise<Answer> {
	return answer({ success: true }, 200, { "Set-Cookie": await sessions.signOut(request) });
}

function sessionAnswer(session: ActiveSession, { account, key }: Caller, { publicUrl }: ConsoleApiDeps): Answer {
	const { expiresAtMs, csrfToken, setCookie } = session;
	const body: Session = {
		account: { id: account.id, name: account.name },
		key: { id: key.id, last6Chars: key.last6, description: key.description },
		expiresAt: instant(expiresAtMs),
		csrfToken,
		version: VERSION,
		build: BUILD,
		publicUrl: publicUrl(),
	};
	return answer(body, 200, setCookie === null ? {} : { "Set-Cookie": setCookie });
}
