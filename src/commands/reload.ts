import { defineCommand } from "citty";
import { requestReload } from "../store/admin.ts";
import { print } from "./print.ts";
import { storeArgs } from "./store-args.ts";
import { withStore } from "./with-store.ts";

export const reload = defineCommand({
	meta: { name: "reload", description: "Have running servers read their configuration again: models, prices, upstreams, limits" },
	args: storeArgs,
	run: ({ args }) =>
		withStore(args, async (admin) => {
			await requestReload(admin);
			print("Asked for a reload; the server's log says what came of it");
		}),
});
