import { Link } from "@tanstack/react-router";

const GROUPS = [
	{
		name: "Status",
		pages: [
			{ to: "/", text: "Overview" },
			{ to: "/models", text: "Models and upstreams" },
			{ to: "/chains", text: "Chains" },
			{ to: "/assets", text: "Assets" },
		],
	},
	{
		name: "Callers",
		pages: [
			{ to: "/accounts", text: "Accounts" },
			{ to: "/keys", text: "Keys" },
			{ to: "/wallets", text: "Wallets and top-ups" },
		],
	},
	{
		name: "Money",
		pages: [
			{ to: "/usage", text: "Usage" },
			{ to: "/margin", text: "Margin" },
			{ to: "/books", text: "Books" },
		],
	},
	{
		name: "Diagnosis",
		pages: [
			{ to: "/requests", text: "One request" },
			{ to: "/refusals", text: "Refused by limits" },
			{ to: "/sends", text: "Sent transactions" },
		],
	},
	{
		name: "Playground",
		pages: [
			{ to: "/play/chat", text: "Chat" },
			{ to: "/play/speech", text: "Speech" },
			{ to: "/play/images", text: "Image edit" },
			{ to: "/play/documents", text: "Documents" },
			{ to: "/play/rpc", text: "JSON-RPC" },
		],
	},
	{ name: "Server", pages: [{ to: "/settings", text: "Settings" }] },
] as const;

/** The list of pages. The router marks the current one with aria-current. */
export function Navigation({ onGo }: { readonly onGo?: () => void }) {
	return (
		<nav aria-label="Pages">
			{GROUPS.map(({ name, pages }) => (
				<div key={name} className="nav-group">
					<h2>{name}</h2>
					<ul>
						{pages.map(({ to, text }) => (
							<li key={to}>
								<Link to={to} activeOptions={{ exact: to === "/", includeSearch: false }} {...(onGo ? { onClick: onGo } : {})}>
									{text}
								</Link>
							</li>
						))}
					</ul>
				</div>
			))}
		</nav>
	);
}
