// A client that was not registered in advance. It uses a client ID metadata document if the server supports
// that, and dynamic registration if not.
import CounterfoilClient
import CounterfoilProtocol

let issuer = try Issuer(ofServer: "https://mcp.example.com")
let scope = try Scope(lenient: "openid offline_access")
let store = try await TokenStoreChoice.defaultStore(for: ApplicationIdentifier("com.example.lightbox"))
// snippet.show
var client = ClientIdentification()
client.metadataDocument = try ClientMetadataDocument("https://lightbox.example/client.json")
client.registration = .init(as: "Lightbox", storedIn: store)
let signIn = NativeSignIn(issuer: issuer, client: client, scope: scope)
let credentials = try await signIn.run()
// snippet.hide
print(credentials.clientID)
