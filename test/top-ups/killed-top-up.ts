/** A server that is killed between broadcast and credit: it takes the payment that it is given, and never books it. */
import { openAdmin } from "../../src/store/admin.ts";
import { TestTopUpService } from "../support/test-top-up-service.ts";

interface Settings {
	readonly url: string;
	readonly dir: string;
	readonly payTo: string;
	readonly key: string;
	readonly header: string;
}

const { url, dir, payTo, key, header } = JSON.parse(process.argv[2] ?? "{}") as Settings;
const books = { dir, admin: () => openAdmin(dir) };
const service = await TestTopUpService.open({ chain: { url }, books, payTo, key });
service.fault = "killed-after-broadcast";
await service.topUp(header);
