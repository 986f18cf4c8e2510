/** GET /image/styles: the values of `style_preset` of /image/generate. Free and public. */
import Type from "typebox";
import { type Endpoint, json, plain } from "../../../server/endpoint.ts";
import { STYLES } from "../style-names.ts";

export function imageStyles(): Endpoint {
	return plain({
		method: "GET",
		path: "/image/styles",
		name: "image-styles",
		tag: "Images",
		summary: "Names of styles",
		openAi: false,
		callers: ["none"],
		listLimit: false,
		answer: {
			type: "application/json",
			schema: Type.Object({ data: Type.Array(Type.String()), object: Type.Literal("list") }),
			description: "The names",
		},
		run: () => json({ data: STYLES, object: "list" }),
	});
}
