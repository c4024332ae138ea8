//! Sockets and message queues: made without the token where they may block, and what the system fills in is logged
//! as written.

use super::blocking::*;
use super::passage::{interpose_six, watch};
use crate::call::{Call, outward as interpose, real};
use crate::ranges;
use libc::{
    POLLIN, c_char, c_int, c_long, c_uint, c_void, mmsghdr, mqd_t, msghdr, size_t, sockaddr, socklen_t, ssize_t,
    timespec,
};

/// Receives once there is something, or without waiting if so asked; all of it, if so asked, however long it takes.
unsafe fn receive<R: Failure>(
    call: &mut Call,
    socket: c_int,
    flags: c_int,
    pc: usize,
    action: impl FnOnce() -> R,
) -> R {
    // SAFETY: a `Call` is proof of the token.
    unsafe {
        if flags & libc::MSG_DONTWAIT != 0 {
            return outside(call, false, pc, action);
        }
        if flags & libc::MSG_WAITALL != 0 {
            return outside(call, true, pc, action);
        }
        when_ready(call, socket, POLLIN, pc, action)
    }
}

/// Whether receiving could wait, with these flags.
unsafe fn receive_may_block(socket: c_int, flags: c_int) -> bool {
    // SAFETY: any number will do.
    flags & libc::MSG_DONTWAIT == 0 && (flags & libc::MSG_WAITALL != 0 || unsafe { read_may_block(socket) })
}

/// Whether sending that much could.
unsafe fn send_may_block(socket: c_int, len: usize, flags: c_int) -> bool {
    // SAFETY: any number will do.
    flags & libc::MSG_DONTWAIT == 0 && unsafe { write_may_block(socket, len) }
}

/// How much room there is for an address.
unsafe fn room_for(len: *const socklen_t) -> socklen_t {
    // SAFETY: the program's pointer, or null.
    if len.is_null() { 0 } else { unsafe { *len } }
}

/// The system has filled in an address, for which there was that much room, and its length.
unsafe fn filled_address(call: &mut Call, address: usize, len: *const socklen_t, room: socklen_t, pc: usize) {
    if address == 0 || len.is_null() {
        return;
    }
    // SAFETY: a `Call` is proof of the token; the program gave the places.
    unsafe {
        filled(call, address, (*len).min(room) as isize, pc);
        filled_in(call, len, pc);
    }
}

/// The system has received a message of `len` bytes.
unsafe fn got_message(call: &mut Call, socket: c_int, message: *const msghdr, len: isize, room: socklen_t, pc: usize) {
    // SAFETY: a `Call` is proof of the token; the program gave the places.
    unsafe {
        let it = &*message;
        got_pieces(call, socket, it.msg_iov, it.msg_iovlen, len, pc);
        filled(call, it.msg_name as usize, it.msg_namelen.min(room) as isize, pc);
        filled(call, it.msg_control as usize, it.msg_controllen as isize, pc);
        filled_in(call, message, pc);
    }
}

/// A message is about to be sent; its length.
unsafe fn read_message(call: &mut Call, message: *const msghdr, pc: usize) -> usize {
    // SAFETY: a `Call` is proof of the token; the program gave the places.
    unsafe {
        let it = &*message;
        call.settle();
        ranges::read(call, message as usize, size_of::<msghdr>(), pc);
        ranges::read(call, it.msg_name as usize, if it.msg_name.is_null() { 0 } else { it.msg_namelen as usize }, pc);
        ranges::read(call, it.msg_control as usize, if it.msg_control.is_null() { 0 } else { it.msg_controllen }, pc);
        read_pieces(call, it.msg_iov, it.msg_iovlen, pc)
    }
}

interpose! {
    fn recv / 4 (socket: c_int, buffer: *mut c_void, len: size_t, flags: c_int) -> ssize_t = |call, pc| {
        let really = real!(recv: fn(c_int, *mut c_void, size_t, c_int) -> ssize_t);
        let result = receive(&mut call, socket, flags, pc, || really(socket, buffer, len, flags));
        got(&mut call, socket, buffer as usize, result.min(len as isize), pc);
        result
    };
    fn __recv_chk / 5 (socket: c_int, buffer: *mut c_void, len: size_t, room: size_t, flags: c_int) -> ssize_t =
        |call, pc| {
            let really = real!(__recv_chk: fn(c_int, *mut c_void, size_t, size_t, c_int) -> ssize_t);
            let result = receive(&mut call, socket, flags, pc, || really(socket, buffer, len, room, flags));
            got(&mut call, socket, buffer as usize, result.min(len as isize), pc);
            result
        };
    fn recvmsg / 3 (socket: c_int, message: *mut msghdr, flags: c_int) -> ssize_t = |call, pc| {
        let really = real!(recvmsg: fn(c_int, *mut msghdr, c_int) -> ssize_t);
        let room = (*message).msg_namelen;
        let result = receive(&mut call, socket, flags, pc, || really(socket, message, flags));
        if result >= 0 {
            got_message(&mut call, socket, message, result, room, pc);
        }
        result
    };
    fn recvmmsg / 5 (socket: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int, time: *mut timespec)
        -> c_int = |call, pc| {
            let really = real!(recvmmsg: fn(c_int, *mut mmsghdr, c_uint, c_int, *mut timespec) -> c_int);
            // It waits until all have come, unless it is told not to.
            let waits = flags & libc::MSG_DONTWAIT == 0
                && (flags & libc::MSG_WAITFORONE == 0 || receive_may_block(socket, flags));
            let result = outside(&mut call, waits, pc, || really(socket, messages, count, flags, time));
            for number in 0..usize::try_from(result).unwrap_or(0) {
                let message = messages.add(number);
                let len = (*message).msg_len as isize;
                got_message(&mut call, socket, &raw const (*message).msg_hdr, len, socklen_t::MAX, pc);
                filled_in(&mut call, &raw const (*message).msg_len, pc);
            }
            result
        };
    fn send / 4 (socket: c_int, buffer: *const c_void, len: size_t, flags: c_int) -> ssize_t = |call, pc| {
        call.settle();
        ranges::read(&mut call, buffer as usize, len, pc);
        let really = real!(send: fn(c_int, *const c_void, size_t, c_int) -> ssize_t);
        let waits = send_may_block(socket, len, flags);
        outside(&mut call, waits, pc, || really(socket, buffer, len, flags))
    };
    fn sendmsg / 3 (socket: c_int, message: *const msghdr, flags: c_int) -> ssize_t = |call, pc| {
        let len = read_message(&mut call, message, pc);
        let really = real!(sendmsg: fn(c_int, *const msghdr, c_int) -> ssize_t);
        let waits = send_may_block(socket, len, flags);
        outside(&mut call, waits, pc, || really(socket, message, flags))
    };
    fn sendmmsg / 4 (socket: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int) -> c_int = |call, pc| {
        let mut len = 0;
        for number in 0..count as usize {
            len += read_message(&mut call, &raw const (*messages.add(number)).msg_hdr, pc);
        }
        let really = real!(sendmmsg: fn(c_int, *mut mmsghdr, c_uint, c_int) -> c_int);
        let waits = send_may_block(socket, len, flags);
        let result = outside(&mut call, waits, pc, || really(socket, messages, count, flags));
        for number in 0..usize::try_from(result).unwrap_or(0) {
            filled_in(&mut call, &raw const (*messages.add(number)).msg_len, pc);
        }
        result
    };
    fn accept / 3 (socket: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int = |call, pc| {
        let really = real!(accept: fn(c_int, *mut sockaddr, *mut socklen_t) -> c_int);
        let room = room_for(len);
        let result = when_ready(&mut call, socket, POLLIN, pc, || really(socket, address, len));
        if result >= 0 {
            filled_address(&mut call, address as usize, len, room, pc);
        }
        result
    };
    fn accept4 / 4 (socket: c_int, address: *mut sockaddr, len: *mut socklen_t, flags: c_int) -> c_int = |call, pc| {
        let really = real!(accept4: fn(c_int, *mut sockaddr, *mut socklen_t, c_int) -> c_int);
        let room = room_for(len);
        let result = when_ready(&mut call, socket, POLLIN, pc, || really(socket, address, len, flags));
        if result >= 0 {
            filled_address(&mut call, address as usize, len, room, pc);
        }
        result
    };
    fn connect / 3 (socket: c_int, address: *const sockaddr, len: socklen_t) -> c_int = |call, pc| {
        call.settle();
        ranges::read(&mut call, address as usize, len as usize, pc);
        let really = real!(connect: fn(c_int, *const sockaddr, socklen_t) -> c_int);
        outside(&mut call, is_blocking(socket), pc, || really(socket, address, len))
    };
    fn msgsnd / 4 (queue: c_int, message: *const c_void, len: size_t, flags: c_int) -> c_int = |call, pc| {
        call.settle();
        ranges::read(&mut call, message as usize, len + size_of::<c_long>(), pc);
        let really = real!(msgsnd: fn(c_int, *const c_void, size_t, c_int) -> c_int);
        outside(&mut call, flags & libc::IPC_NOWAIT == 0, pc, || really(queue, message, len, flags))
    };
    fn msgrcv / 5 (queue: c_int, message: *mut c_void, len: size_t, kind: c_long, flags: c_int) -> ssize_t =
        |call, pc| {
            let really = real!(msgrcv: fn(c_int, *mut c_void, size_t, c_long, c_int) -> ssize_t);
            let waits = flags & libc::IPC_NOWAIT == 0;
            let result = outside(&mut call, waits, pc, || really(queue, message, len, kind, flags));
            if result >= 0 {
                filled(&mut call, message as usize, result + size_of::<c_long>() as isize, pc);
            }
            result
        };
    fn semop / 3 (set: c_int, operations: *mut libc::sembuf, count: size_t) -> c_int = |call, pc| {
        let really = real!(semop: fn(c_int, *mut libc::sembuf, size_t) -> c_int);
        outside(&mut call, true, pc, || really(set, operations, count))
    };
    fn semtimedop / 4 (set: c_int, operations: *mut libc::sembuf, count: size_t, time: *const timespec) -> c_int =
        |call, pc| {
            let really = real!(semtimedop: fn(c_int, *mut libc::sembuf, size_t, *const timespec) -> c_int);
            outside(&mut call, true, pc, || really(set, operations, count, time))
        };
    fn mq_send / 4 (queue: mqd_t, message: *const c_char, len: size_t, priority: c_uint) -> c_int = |call, pc| {
        call.settle();
        ranges::read(&mut call, message as usize, len, pc);
        let really = real!(mq_send: fn(mqd_t, *const c_char, size_t, c_uint) -> c_int);
        outside(&mut call, write_may_block(queue, 0), pc, || really(queue, message, len, priority))
    };
    fn mq_timedsend / 5 (
        queue: mqd_t, message: *const c_char, len: size_t, priority: c_uint, time: *const timespec,
    ) -> c_int = |call, pc| {
        call.settle();
        ranges::read(&mut call, message as usize, len, pc);
        let really = real!(mq_timedsend: fn(mqd_t, *const c_char, size_t, c_uint, *const timespec) -> c_int);
        outside(&mut call, write_may_block(queue, 0), pc, || really(queue, message, len, priority, time))
    };
    fn mq_receive / 4 (queue: mqd_t, message: *mut c_char, len: size_t, priority: *mut c_uint) -> ssize_t = |call, pc| {
        let really = real!(mq_receive: fn(mqd_t, *mut c_char, size_t, *mut c_uint) -> ssize_t);
        let result = outside(&mut call, read_may_block(queue), pc, || really(queue, message, len, priority));
        if result >= 0 {
            filled(&mut call, message as usize, result, pc);
            filled_in(&mut call, priority, pc);
        }
        result
    };
    fn mq_timedreceive / 5 (
        queue: mqd_t, message: *mut c_char, len: size_t, priority: *mut c_uint, time: *const timespec,
    ) -> ssize_t = |call, pc| {
        let really = real!(mq_timedreceive: fn(mqd_t, *mut c_char, size_t, *mut c_uint, *const timespec) -> ssize_t);
        let result = outside(&mut call, read_may_block(queue), pc, || really(queue, message, len, priority, time));
        if result >= 0 {
            filled(&mut call, message as usize, result, pc);
            filled_in(&mut call, priority, pc);
        }
        result
    };
}

interpose_six! {
    fn recvfrom (
        socket: c_int, buffer: *mut c_void, len: size_t, flags: c_int, address: *mut sockaddr,
        address_len: *mut socklen_t,
    ) -> ssize_t = |call, pc| {
        let really =
            real!(recvfrom: fn(c_int, *mut c_void, size_t, c_int, *mut sockaddr, *mut socklen_t) -> ssize_t);
        let room = room_for(address_len);
        let result = receive(&mut call, socket, flags, pc, || really(socket, buffer, len, flags, address, address_len));
        if result >= 0 {
            got(&mut call, socket, buffer as usize, result.min(len as isize), pc);
            filled_address(&mut call, address as usize, address_len, room, pc);
        }
        result
    };
    fn sendto (
        socket: c_int, buffer: *const c_void, len: size_t, flags: c_int, address: *const sockaddr,
        address_len: socklen_t,
    ) -> ssize_t = |call, pc| {
        call.settle();
        ranges::read(&mut call, buffer as usize, len, pc);
        let really =
            real!(sendto: fn(c_int, *const c_void, size_t, c_int, *const sockaddr, socklen_t) -> ssize_t);
        let waits = send_may_block(socket, len, flags);
        outside(&mut call, waits, pc, || really(socket, buffer, len, flags, address, address_len))
    };
}

/// Functions that tell a socket's address.
macro_rules! addresses {
    ($($name:ident)*) => {
        watch! {$(
            fn $name / 3 (socket: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int = |call, pc, really| {
                let room = room_for(len);
                let result = really(socket, address, len);
                if result == 0 {
                    filled_address(&mut call, address as usize, len, room, pc);
                }
                result
            };
        )*}
    };
}

addresses! { getsockname getpeername }

watch! {
    fn getsockopt / 5 (socket: c_int, level: c_int, name: c_int, value: *mut c_void, len: *mut socklen_t) -> c_int =
        |call, pc, really| {
            let room = room_for(len);
            let result = really(socket, level, name, value, len);
            if result == 0 {
                filled_address(&mut call, value as usize, len, room, pc);
            }
            result
        };
}
