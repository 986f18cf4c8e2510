import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { connection } from "./api/connection.ts";
import { session } from "./api/session.ts";
import { createConsoleRouter } from "./router.tsx";
import "./style/tokens.css";
import "./style/base.css";
import "./style/frame.css";
import "./style/parts.css";
import "./style/playground.css";
import { applyTheme } from "./theme.ts";

applyTheme();

const client = new QueryClient({
	defaultOptions: {
		// A refusal does not change on a retry. The connection polls an unreachable server itself.
		queries: { retry: false, staleTime: 5_000, networkMode: "always" },
		mutations: { retry: false, networkMode: "always" },
	},
});
const router = createConsoleRouter();

declare module "@tanstack/react-router" {
	interface Register {
		router: typeof router;
	}
}

session.subscribe(() => {
	if (session.current() !== null) return;
	client.clear();
	if (location.pathname !== "/console/sign-in")
		void router.navigate({ to: "/sign-in", search: { back: location.pathname + location.search }, replace: true });
});
connection.subscribe(() => {
	if (!connection.isUp()) return;
	void router.invalidate();
	void client.invalidateQueries();
});
/** After a new build an open page's old chunks are missing, so the page is reloaded once. */
addEventListener("vite:preloadError", (event) => {
	if (sessionStorage.getItem("reloaded-for") === import.meta.url) return;
	event.preventDefault();
	sessionStorage.setItem("reloaded-for", import.meta.url);
	location.reload();
});

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");
createRoot(root).render(
	<StrictMode>
		<QueryClientProvider client={client}>
			<RouterProvider router={router} />
		</QueryClientProvider>
	</StrictMode>,
);
