// A sign-in through the system browser, and a call with the token that it gives.
import CounterfoilClient

// snippet.show
let signIn = try NativeSignIn(issuer: "https://id.example.com", clientID: "lightbox", scope: "openid photos.read")
let credentials = try await signIn.run()
let photos = try await ResourceClient(credentials).get("https://photos.example.com/photos")
// snippet.hide
print(photos.statusCode)
