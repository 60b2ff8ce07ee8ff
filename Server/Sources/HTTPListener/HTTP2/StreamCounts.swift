import NIOCore

/// The counts of the streams of an HTTP/2 connection, and the rules that follow from them.
struct StreamCounts {
    /// The number of requests whose body is arriving, or that wait for their turn.
    private(set) var arriving = 0
    /// The number of requests that are being answered.
    private(set) var answering = 0
    /// The size of the heads of both.
    private(set) var headBytes = 0
    /// The number of requests whose body has a free part.
    private(set) var freeBodies = 0
    /// The number of requests whose body waits for admission.
    private(set) var admissionChecks = 0
    /// The size of the responses that the client has not taken yet.
    private(set) var unsentBytes = 0

    /// The part of one request.
    struct Part {
        let headBytes: Int
        let hasFreeBody: Bool
    }

    /// The phase of the connection.
    var phase: OpenConnection.Phase { answering > 0 ? .answering : arriving > 0 ? .reading : .idle }

    /// Whether the answer to another request may begin.
    var mayAnswer: Bool { answering < StreamLimits.answers && unsentBytes <= StreamLimits.unsentBytes }

    /// Counts a request; nil if the connection has too many.
    mutating func admit(headBytes bytes: Int) -> Part? {
        guard arriving + answering < StreamLimits.streams, headBytes + bytes <= StreamLimits.headBytes else {
            return nil
        }
        let part = Part(headBytes: bytes, hasFreeBody: freeBodies < StreamLimits.freeBodies)
        arriving += 1
        headBytes += bytes
        if part.hasFreeBody { freeBodies += 1 }
        return part
    }

    /// Counts a body that waits for admission; returns false if the connection has too many.
    mutating func beginAdmissionCheck() -> Bool {
        guard admissionChecks < StreamLimits.admissionChecks else { return false }
        admissionChecks += 1
        return true
    }

    mutating func endAdmissionCheck() { admissionChecks -= 1 }

    mutating func beginAnswer() {
        arriving -= 1
        answering += 1
    }

    /// Ends the count of a request.
    mutating func remove(_ part: Part, wasAnswering: Bool) {
        if wasAnswering { answering -= 1 } else { arriving -= 1 }
        headBytes -= part.headBytes
        if part.hasFreeBody { freeBodies -= 1 }
    }

    /// Counts bytes of a response; a negative number ends the count.
    mutating func addUnsent(_ bytes: Int) { unsentBytes += bytes }
}

/// Counts events, and finds that there are too many in a time.
struct EventCounter {
    let limit: Int
    let period: TimeAmount
    private var end: NIODeadline?
    private var count = 0

    init(limit: Int, period: TimeAmount) {
        self.limit = limit
        self.period = period
    }

    /// Counts an event; returns true if the limit of the current period is exceeded.
    mutating func exceeds(at now: NIODeadline) -> Bool {
        if let end, now < end {
            count += 1
        } else {
            end = now + period
            count = 1
        }
        return count > limit
    }
}
