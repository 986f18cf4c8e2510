/** The operator's command line as a process, as far as the tests need it: `admin-process.ts PLACE NAME JSON`. */
import { createAccount, credit, openAdmin, requestReload, revokeKey, setAccount } from "../admin.ts";

const [place = "", command = "", json = "{}"] = process.argv.slice(2);
const input = JSON.parse(json);
const admin = openAdmin(place);
const commands: Record<string, () => Promise<unknown>> = {
	credit: () => credit(admin, input),
	create: () => createAccount(admin, input),
	set: () => setAccount(admin, input.accountId, input.changes, input.patienceMs),
	revoke: () => revokeKey(admin, input.keyId),
	reload: () => requestReload(admin),
};
const answer = await commands[command]?.();
process.stdout.write(`${JSON.stringify(answer ?? null)}\n`);
await admin.close();
