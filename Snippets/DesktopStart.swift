// A first program: the user signs in once, and the next run calls the API without the browser.

// snippet.show
import CounterfoilClient

let signIn = try NativeSignIn(
    issuer: "https://id.example.com", clientID: "lightbox", scope: "openid offline_access photos.read",
    apiOrigins: ["https://photos.example.com"])
let store = try await TokenStoreChoice.defaultStore(for: ApplicationIdentifier("com.example.lightbox"))
let session = TokenSession(for: signIn, store: store)
try await session.signedIn { event in
    if case .opening(let url) = event { print("Open: \(url)") }
}
let answer = try await session.get("https://photos.example.com/photos")
print(answer.text)
