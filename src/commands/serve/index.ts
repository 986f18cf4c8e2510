import { defineCommand } from "citty";
import { storeArgs } from "../store-args.ts";
import { runServer } from "./run-server.ts";

export const serve = defineCommand({
	meta: { name: "serve", description: "Serve the API" },
	args: {
		...storeArgs,
		port: { type: "string", description: "Port (TURNPIKE_PORT; default 8787)", valueHint: "P" },
		host: { type: "string", description: "Address to listen on (TURNPIKE_HOST; default 127.0.0.1)", valueHint: "ADDRESS" },
	},
	run: ({ args }) => runServer({ config: args.config, port: args.port, host: args.host, data: args.data }),
});
