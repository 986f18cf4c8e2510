/** A server that is killed between broadcast and credit: it takes the payment that it is given, and never books it. */
import { openAdmin } from "../../src/store/admin.ts";
import { TestDesk } from "../support/top-up-desk.ts";

interface Given {
	readonly url: string;
	readonly dir: string;
	readonly payTo: string;
	readonly key: string;
	readonly header: string;
}

const { url, dir, payTo, key, header } = JSON.parse(process.argv[2] ?? "{}") as Given;
const books = { dir, admin: () => openAdmin(dir) };
const desk = await TestDesk.open({ chain: { url }, books, payTo, key });
desk.fault = "killed-after-broadcast";
await desk.topUp(header);
