import { testRpcRecords } from "../testing/rpc-records-contract.ts";
import { StoreFolder } from "../testing/store-folder.ts";

testRpcRecords(() => new StoreFolder());
