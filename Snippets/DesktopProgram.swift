// A desktop app with several kinds of redirect URI, stored credentials, and session events.
import CounterfoilClient
import Foundation

// snippet.show
// Call this first: the desktop may have started the program to deliver a redirect.
if let outcome = RedirectHandoff.deliver() { exit(outcome.exitCode) }

var signIn = try NativeSignIn(
    issuer: "https://id.example.com", clientID: "lightbox", scope: "openid offline_access photos.read")
signIn.redirect = try .claimedHTTPS("https://lightbox.example/callback")
    .otherwise(.customScheme("com.example.lightbox:/callback")).otherwise(.loopback)

let store = try await TokenStoreChoice.defaultStore()
let session = TokenSession(store: store)
let events = session.events
Task {
    for await event in events {
        if case .ended(let reason) = event { print("Please sign in again: \(reason).") }
    }
}

do {
    print(try await session.get("https://photos.example.com/albums").statusCode)
} catch let error as SessionError {
    switch error {
    case .notSignedIn, .ended, .expired:
        let credentials = try await signIn.run { event in
            if case .opening(let url) = event { print("Open: \(url)") }
        }
        try await store.save(credentials, as: .standard)
    default:
        print(error)
    }
}
