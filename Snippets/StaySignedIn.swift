// A user who stays signed in: the best available store keeps the credentials, and a session refreshes them.
import CounterfoilClient

// snippet.show
let signIn = try NativeSignIn(
    issuer: "https://id.example.com", clientID: "lightbox", scope: "openid offline_access photos.read")
let credentials = try await signIn.run()
let store = try await TokenStoreChoice.defaultStore()
try await store.save(credentials, as: .standard)
let session = TokenSession(store: store)
let albums = try await session.get("https://photos.example.com/albums")
// snippet.hide
print(albums.statusCode)
