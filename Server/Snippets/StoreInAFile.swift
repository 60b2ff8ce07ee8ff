// The store of an authorization server, in one SQLite file.
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

guard let serverKey = ServerKey(bytes: ServerKey.newBytes()) else { preconditionFailure("a server key has 32 bytes") }
// snippet.show
let store = try SQLiteStore(at: "data/counterfoil.db")
let keys = try await KeyRing.open(store, serverKey: serverKey)
await store.close()
// snippet.hide
print(keys)
