// A desktop app with several kinds of redirect URI, stored credentials, and session events.
import CounterfoilClient
import Foundation

// snippet.show
// Call this first: the desktop may have started the program to deliver a redirect.
if let outcome = RedirectHandoff.deliver() { exit(outcome.exitCode) }

var signIn = try NativeSignIn(
    issuer: "https://id.example.com", clientID: "lightbox", scope: "openid offline_access photos.read",
    apiOrigins: ["https://photos.example.com"])
signIn.redirect = try .claimedHTTPS("https://lightbox.example/callback")
    .otherwise(.customScheme("com.example.lightbox:/callback")).otherwise(.loopback)

let store = try await TokenStoreChoice.defaultStore(for: ApplicationIdentifier("com.example.lightbox"))
let session = TokenSession(for: signIn, store: store)
let events = session.events
Task {
    for await event in events {
        if case .ended(let reason) = event { print("Please sign in again: \(reason).") }
    }
}

do {
    // Opens the browser only if no user is signed in.
    try await session.signedIn { event in
        if case .opening(let url) = event { print("Open: \(url)") }
    }
    print(try await session.get("https://photos.example.com/albums").statusCode)
} catch {
    print(error)
}
