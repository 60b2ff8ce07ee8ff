// A client without prior registration: a client ID metadata document if supported, otherwise dynamic registration.
import CounterfoilClient
import CounterfoilProtocol

let issuer = try Issuer(ofServer: "https://mcp.example.com")
let scope = try Scope(lenient: "openid offline_access")
let store = try await TokenStoreChoice.defaultStore()
// snippet.show
var client = ClientIdentification()
client.metadataDocument = try ClientMetadataDocument("https://lightbox.example/client.json")
client.registration = .init(as: "Lightbox", storedIn: store)
let signIn = NativeSignIn(issuer: issuer, client: client, scope: scope)
let credentials = try await signIn.run()
// snippet.hide
print(credentials.clientID)
