import { StoreFolder } from "../store/testing/store-folder.ts";
import { testRpcCrashes } from "./testing/rpc-crash-contract.ts";

testRpcCrashes(() => new StoreFolder());
