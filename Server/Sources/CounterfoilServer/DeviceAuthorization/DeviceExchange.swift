import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// A pending device authorization on a page: what the device asks for, and the HTTP request of the user.
struct DeviceExchange: Sendable {
    let authorization: DeviceAuthorization
    /// The access that the device requests, checked with the current registration of the client.
    let access: RequestedAccess
    let code: UserCode
    /// The HTTP request of the user.
    let request: IncomingRequest
    let now: Date

    /// The device as the page shows it, so that the user recognizes the own device (RFC 8628 §5.4).
    ///
    /// The `User-Agent` is shown by common names only. The device can send any text, which could deceive the user.
    var shown: WaitingDevice {
        WaitingDevice(
            userCode: code.description, source: authorization.source,
            program: request.words(Device(userAgent: authorization.userAgent)), requested: request.words(age))
    }

    private var age: LocalizedText {
        let minutes = Int(max(0, now.timeIntervalSince(authorization.requestedAt)) / 60)
        return minutes == 0
            ? LocalizedText("device-consent.just-now")
            : LocalizedText("device-consent.minutes-ago", ["count": .number(minutes)])
    }
}
