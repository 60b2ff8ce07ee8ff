/// The page with the result after a user has answered the request of a device.
package struct DeviceDonePage: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// The user allowed the request; the device gets its tokens with its next poll.
        case approved
        /// The user denied the request.
        case denied
        /// The code has expired, or was answered in another window or by another user; nothing was changed.
        case over
    }

    package var kind: Kind
    /// The name of the client; nil if the code is not pending any more.
    package var clientName: DisplayName?
    /// The path of the page on which the user types another code.
    package var codePath: String

    package init(kind: Kind, clientName: DisplayName? = nil, codePath: String) {
        self.kind = kind
        self.clientName = clientName
        self.codePath = codePath
    }
}

extension DeviceDonePage: Page {
    package static let template = "device-done"

    package func values(in frame: Frame) -> [String: (any Sendable)?] {
        ["approved": kind == .approved, "denied": kind == .denied, "over": kind == .over]
    }
}
