// A sign-in for a single request. It stores nothing and requests no refresh token. StaySignedIn.swift requests one.
import CounterfoilClient

// snippet.show
let signIn = try NativeSignIn(issuer: "https://id.example.com", clientID: "lightbox", scope: "openid photos.read")
let credentials = try await signIn.run()
let photos = try await ResourceClient(credentials).get("https://photos.example.com/photos")
// snippet.hide
print(photos.statusCode)
