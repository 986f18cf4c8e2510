import { Toast } from "@base-ui/react/toast";
import { faultText } from "../api/call.ts";

const manager = Toast.createToastManager();

/** Shows a success message for a few seconds; screen readers announce it. */
export const say = (text: string): void => {
	manager.add({ title: text, type: "good" });
};

/** Shows an error until it is closed. */
export const sayFault = (fault: unknown): void => {
	manager.add({ title: faultText(fault), type: "bad", priority: "high", timeout: 0 });
};

export function Toasts() {
	return (
		<Toast.Provider toastManager={manager}>
			<Toast.Portal>
				<Toast.Viewport className="toasts">
					<List />
				</Toast.Viewport>
			</Toast.Portal>
		</Toast.Provider>
	);
}

function List() {
	const { toasts } = Toast.useToastManager();
	return toasts.map((toast) => (
		<Toast.Root key={toast.id} toast={toast} className="toast">
			<Toast.Title render={<p />} />
			<Toast.Close className="button button-small button-plain" aria-label="Close this message">
				Close
			</Toast.Close>
		</Toast.Root>
	));
}
