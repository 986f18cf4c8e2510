import { defineCommand } from "citty";
import { requestReload } from "../store/admin.ts";
import { print } from "./print.ts";
import { storeArgs } from "./store-args.ts";
import { withStore } from "./with-store.ts";

export const reload = defineCommand({
	meta: { name: "reload", description: "Make running servers reload their configuration: models, prices, upstreams, limits" },
	args: storeArgs,
	run: ({ args }) =>
		withStore(args, async (admin) => {
			await requestReload(admin);
			print("Reload requested; the server's log shows the result");
		}),
});
