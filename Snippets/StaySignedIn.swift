// A user who stays signed in: the best available store keeps the credentials, and a session refreshes them.
import CounterfoilClient

// snippet.show
let signIn = try NativeSignIn(
    issuer: "https://id.example.com", clientID: "lightbox", scope: "openid offline_access photos.read",
    apiOrigins: ["https://photos.example.com"])
let store = try await TokenStoreChoice.defaultStore(for: ApplicationIdentifier("com.example.lightbox"))
let session = TokenSession(for: signIn, store: store)
try await session.signedIn()
let albums = try await session.get("https://photos.example.com/albums")
// snippet.hide
print(albums.statusCode)
