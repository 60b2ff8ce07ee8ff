// A sign-in for one call: nothing is kept, so that no refresh token is asked for. StaySignedIn.swift asks for one.
import CounterfoilClient

// snippet.show
let signIn = try NativeSignIn(issuer: "https://id.example.com", clientID: "lightbox", scope: "openid photos.read")
let credentials = try await signIn.run()
let photos = try await ResourceClient(credentials).get("https://photos.example.com/photos")
// snippet.hide
print(photos.statusCode)
