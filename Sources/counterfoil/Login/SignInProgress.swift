import CounterfoilClient
import CounterfoilProtocol
import Foundation

/// The progress messages of a sign-in: what the program is waiting for, and how to stop it.
struct SignInProgress: Sendable {
    let console: Console
    let timeout: Int
    /// The issuer, if the messages say how it identifies the client.
    var issuer: Issuer?

    /// Reports an event of a sign-in in the browser.
    func tell(_ event: NativeSignIn.Event, isPasted: Bool = false) {
        switch event {
        case .identified(let client, let origin): if let issuer { tell(client, origin, at: issuer) }
        case .opening(let url) where isPasted:
            console.say("Open: \(url)")
            console.say(
                "Then paste the address of the page that the browser ends on, and press Return; it is not shown.")
            console.say("Waiting \(timeout) s for it; Control-C stops.")
        case .opening(let url):
            console.say("Open: \(url)")
            console.say("Waiting \(timeout) s for your answer in the browser; Control-C stops.")
        case .browser(.failed(let reason)):
            console.say("The browser could not be opened (\(reason)); open the address by hand.")
        case .browser, .discovered, .answered, .exchanged: break
        }
        console.detail(Self.detail(of: event))
    }

    /// Shows the instructions of a sign-in on another device.
    func tell(_ instructions: DeviceSignIn.Instructions) {
        console.say("Open: \(instructions.address)")
        console.say("Code: \(instructions.userCode)")
        if let complete = instructions.completeAddress { console.say("Or open, with the code in it: \(complete)") }
        let seconds = min(timeout, Int(instructions.lifetime.components.seconds))
        console.say("Waiting \(seconds) s for your answer on any device; Control-C stops.")
    }

    /// Reports how the server identifies the client, unless the user named the client.
    func tell(_ client: ClientIdentifier, _ origin: ClientIdentification.Origin, at issuer: Issuer) {
        switch origin {
        case .registeredBeforehand: break
        case .metadataDocument: console.say("\(issuer) knows this client by the document \(client).")
        case .registeredNow: console.say("This client was registered at \(issuer).")
        case .registeredThen(let since):
            console.say("This client has been registered at \(issuer) since \(since.formatted(.iso8601)).")
        }
    }

    /// Reports why the pasted text is not the response.
    func refuse(_ refusal: PasteReceiver.Refusal) { console.say("\(refusal)") }

    private static func detail(of event: NativeSignIn.Event) -> String {
        switch event {
        case .identified(let client, _): "the client is \(client)"
        case .discovered(let server): "the metadata of \(server.issuer) are sound; codes go to \(server.tokenEndpoint)"
        case .opening: "the answer is waited for"
        case .browser(.launched): "the browser was started"
        case .browser(.notAttempted): "no browser was started"
        case .browser(.failed(let reason)): "no browser was started: \(reason)"
        case .answered: "the answer is there; its code goes to the token endpoint"
        case .exchanged: "the tokens are there and verified"
        }
    }
}

extension String {
    /// The text with its first letter in upper case and a full stop.
    var capitalizedSentence: String { prefix(1).uppercased() + dropFirst() + "." }
}
