// A sign-in for two APIs, and a call of one of them with a token that is worthless at the other.
import CounterfoilClient
import CounterfoilProtocol

let store = try await TokenStoreChoice.defaultStore(for: ApplicationIdentifier("com.example.lightbox"))
// snippet.show
var signIn = try NativeSignIn(
    issuer: "https://id.example.com", clientID: "lightbox", scope: "openid offline_access photos.read mail.send")
signIn.options.resources = [try Resource("https://photos.example.com"), try Resource("https://mail.example.com")]
let session = TokenSession(for: signIn, store: store)
try await session.signedIn()
let photos = try AccessTarget(resource: "https://photos.example.com")
let response = try await session.get("https://photos.example.com/photos", for: photos)
// snippet.hide
print(response.statusCode)
