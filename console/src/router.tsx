import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { askSession } from "./api/ask-session.ts";
import { session } from "./api/session.ts";
import { Frame } from "./frame/frame.tsx";
import { Outside } from "./frame/outside.tsx";
import { NotThere, PageFault } from "./frame/page-fault.tsx";
import { Waiting } from "./parts/loaded.tsx";

const root = createRootRoute({ component: Outside, notFoundComponent: NotThere });

const signIn = createRoute({
	getParentRoute: () => root,
	path: "/sign-in",
	component: lazyRouteComponent(() => import("./pages/sign-in.tsx"), "SignIn"),
});

/** All pages that need a session; without one the sign-in page opens, and leads back. */
const inside = createRoute({
	getParentRoute: () => root,
	id: "inside",
	component: Frame,
	beforeLoad: async () => {
		if ((session.current() ?? (await askSession())) === null)
			throw redirect({ to: "/sign-in", search: { back: location.pathname + location.search } });
	},
});

const at = { getParentRoute: () => inside };

const tree = root.addChildren([
	signIn,
	inside.addChildren([
		createRoute({ ...at, path: "/", component: lazyRouteComponent(() => import("./pages/overview.tsx"), "OverviewPage") }),
		createRoute({ ...at, path: "/models", component: lazyRouteComponent(() => import("./pages/models.tsx"), "ModelsPage") }),
		createRoute({ ...at, path: "/chains", component: lazyRouteComponent(() => import("./pages/chains.tsx"), "ChainsPage") }),
		createRoute({ ...at, path: "/assets", component: lazyRouteComponent(() => import("./pages/assets.tsx"), "AssetsPage") }),
		createRoute({
			...at,
			path: "/accounts",
			component: lazyRouteComponent(() => import("./pages/accounts.tsx"), "AccountsPage"),
		}),
		createRoute({
			...at,
			path: "/accounts/$accountId",
			component: lazyRouteComponent(() => import("./pages/account.tsx"), "AccountPage"),
		}),
		createRoute({
			...at,
			path: "/keys",
			component: lazyRouteComponent(() => import("./pages/keys.tsx"), "KeysPage"),
		}),
		createRoute({
			...at,
			path: "/wallets",
			component: lazyRouteComponent(() => import("./pages/wallets.tsx"), "WalletsPage"),
		}),
		createRoute({
			...at,
			path: "/usage",
			component: lazyRouteComponent(() => import("./pages/usage.tsx"), "UsagePage"),
		}),
		createRoute({
			...at,
			path: "/margin",
			component: lazyRouteComponent(() => import("./pages/margin.tsx"), "MarginPage"),
		}),
		createRoute({ ...at, path: "/books", component: lazyRouteComponent(() => import("./pages/books.tsx"), "BooksPage") }),
		createRoute({
			...at,
			path: "/requests",
			component: lazyRouteComponent(() => import("./pages/requests.tsx"), "RequestsPage"),
		}),
		createRoute({
			...at,
			path: "/sends",
			component: lazyRouteComponent(() => import("./pages/sends.tsx"), "SendsPage"),
		}),
		createRoute({
			...at,
			path: "/refusals",
			component: lazyRouteComponent(() => import("./pages/refusals.tsx"), "RefusalsPage"),
		}),
		createRoute({
			...at,
			path: "/settings",
			component: lazyRouteComponent(() => import("./pages/settings.tsx"), "SettingsPage"),
		}),
		createRoute({ ...at, path: "/play/chat", component: lazyRouteComponent(() => import("./playground/chat.tsx"), "ChatPage") }),
		createRoute({
			...at,
			path: "/play/speech",
			component: lazyRouteComponent(() => import("./playground/speech.tsx"), "SpeechPage"),
		}),
		createRoute({
			...at,
			path: "/play/images",
			component: lazyRouteComponent(() => import("./playground/images.tsx"), "ImagesPage"),
		}),
		createRoute({
			...at,
			path: "/play/documents",
			component: lazyRouteComponent(() => import("./playground/documents.tsx"), "DocumentsPage"),
		}),
		createRoute({ ...at, path: "/play/rpc", component: lazyRouteComponent(() => import("./playground/rpc.tsx"), "RpcPage") }),
	]),
]);

/** Creates the router of the console's pages. Each page is a chunk that is fetched when the pointer is on its link. */
export function createConsoleRouter() {
	return createRouter({
		routeTree: tree,
		basepath: "/console",
		defaultPreload: "intent",
		defaultPendingMs: 250,
		defaultPendingComponent: () => <Waiting />,
		defaultErrorComponent: PageFault,
		scrollRestoration: true,
	});
}
